import * as vscode from 'vscode';
import { idOf, contextKeys } from './contributions';
import type { RunWatch } from './runs/runWatch';
import { isAtWork, statusWords } from './runs/words';
import type { SessionPanel } from './session/panel';
import type { Sessions } from './session/sessions';
import { hasTheTurn, statusLine } from './statusLine';

/** The status bar item: the open sessions or, while none of them has the turn, a run. */
export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('tandem.playing', vscode.StatusBarAlignment.Left);
  private readonly registration: vscode.Disposable;
  private panel: SessionPanel | undefined;

  constructor(panels: Sessions, runs: RunWatch) {
    this.item.name = 'Tandem';
    const show = (): void => this.show(panels, runs);
    this.registration = vscode.Disposable.from(panels.onDidChangePanel(show), runs.onDidChange(show));
  }

  showSession(): void {
    this.panel?.reveal();
  }

  dispose(): void {
    this.item.dispose();
    this.registration.dispose();
  }

  private show(panels: Sessions, runs: RunWatch): void {
    const open = panels.open.map((panel) => {
      const { title, task, state } = panel.shown;
      return { panel, title, task, state };
    });
    const line = statusLine(open, vscode.l10n.t);
    this.panel = line?.playing.panel;
    void vscode.commands.executeCommand('setContext', contextKeys.hasSessions, line !== undefined);
    const run = [...runs.live, ...runs.everywhere.all].find(isAtWork);
    if (run !== undefined && (line === undefined || !hasTheTurn(line.playing))) {
      const command = { command: idOf('openRun'), title: '', arguments: [{ kind: 'run', run }] };
      this.tell(statusWords(run, vscode.l10n.t), command);
    } else if (line === undefined) this.item.hide();
    else this.tell(line, idOf('showSession'));
  }

  private tell(
    { icon, text, tooltip }: { readonly icon: string; readonly text: string; readonly tooltip: string },
    command: string | vscode.Command,
  ): void {
    this.item.command = command;
    this.item.text = `$(${icon}) ${text}`;
    this.item.tooltip = tooltip;
    this.item.accessibilityInformation = { label: tooltip.replaceAll('\n', ' ') };
    this.item.show();
  }
}
