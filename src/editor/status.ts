import * as vscode from 'vscode';
import { commands, contextKeys } from './contributions';
import type { SessionPanel } from './session/panel';
import type { SessionPanels } from './session/panels';
import { statusLine } from './statusLine';

/** The one item in the status bar: what the open sessions do. A click shows the one that it tells of. */
export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('tandem.playing', vscode.StatusBarAlignment.Left);
  private readonly registration: vscode.Disposable;
  private panel: SessionPanel | undefined;

  constructor(panels: SessionPanels) {
    this.item.name = 'Tandem';
    this.item.command = commands.showSession;
    this.registration = panels.onDidChangePanel(() => this.show(panels));
  }

  showSession(): void {
    this.panel?.reveal();
  }

  dispose(): void {
    this.item.dispose();
    this.registration.dispose();
  }

  private show(panels: SessionPanels): void {
    const open = panels.open.map((panel) => ({ panel, title: panel.shown.title, state: panel.shown.state }));
    const line = statusLine(open, vscode.l10n.t);
    this.panel = line?.playing.panel;
    void vscode.commands.executeCommand('setContext', contextKeys.hasSessions, line !== undefined);
    if (line === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = `$(${line.icon}) ${line.text}`;
    this.item.tooltip = line.tooltip;
    this.item.accessibilityInformation = { label: line.tooltip.replaceAll('\n', ' ') };
    this.item.show();
  }
}
