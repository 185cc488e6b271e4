import * as vscode from 'vscode';
import type { SessionPanels } from './session/panels';

/** One item in the status bar, only while an agent or a simulator writes. */
export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('tandem.playing', vscode.StatusBarAlignment.Left);
  private readonly registration: vscode.Disposable;

  constructor(panels: SessionPanels) {
    this.item.name = 'Tandem';
    this.registration = panels.onDidChangePanel(() => this.show(panels));
  }

  dispose(): void {
    this.item.dispose();
    this.registration.dispose();
  }

  private show(panels: SessionPanels): void {
    const playing = panels.open.map(({ shown }) => ({ title: shown.title, state: shown.state }));
    const working = playing.filter(({ state }) => ['agent', 'simulator', 'grading'].includes(state.phase));
    const [first] = working;
    if (first === undefined) {
      this.item.hide();
      return;
    }
    const { phase, turn, maxTurns } = first.state;
    const what = phase === 'grading' ? 'grading' : `${phase} writes · turn ${turn}/${maxTurns}`;
    this.item.text = `$(sync~spin) ${what}`;
    this.item.tooltip = working.map(({ title }) => title).join(', ');
    this.item.show();
  }
}
