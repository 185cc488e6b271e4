import * as vscode from 'vscode';
import type { FromWebview, ToWebview } from '../../../webview/statistics/protocol';
import { commands, statisticsViewType } from '../contributions';
import { language } from '../language';
import { sharedCalled } from '../models/called';
import type { ShownLog } from '../shownLog';
import { searchable, showPage } from '../panelPage';
import { calledFilter, filterWords } from '../trajectories/filter';
import type { TrajectoryTree } from '../trajectories/tree';
import { headline } from '../trajectories/words';
import { statisticsView } from './view';

const { t } = vscode.l10n;

/** A log that grows by the second is counted anew no more often than this, in milliseconds. */
const AGAIN_AFTER_MS = 1000;

/** The webview panel with the statistics of what the list of trajectories shows. There is one. */
export class StatisticsPanel implements vscode.WebviewPanelSerializer, vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly log: ShownLog,
    private readonly trajectories: TrajectoryTree,
  ) {
    this.disposables = [
      vscode.window.registerWebviewPanelSerializer(statisticsViewType, this),
      log.onDidChangeDialogues(() => this.showSoon()),
      log.onDidChange(() => this.show()),
      trajectories.onDidChangeFilter(() => this.show()),
    ];
  }

  open(): undefined {
    if (this.panel === undefined) {
      this.adopt(
        vscode.window.createWebviewPanel(statisticsViewType, '', vscode.ViewColumn.Active, searchable),
      );
    } else {
      this.panel.reveal();
    }
    return undefined;
  }

  /** Called by VS Code for the panel that was open before the reload. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel): Promise<void> {
    this.adopt(panel);
    return Promise.resolve();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.panel?.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private adopt(panel: vscode.WebviewPanel): void {
    panel.iconPath = new vscode.ThemeIcon('graph');
    panel.onDidDispose(() => (this.panel = undefined));
    this.panel = panel;
    showPage(panel, this.extension, {
      name: 'statistics',
      receive: (message) => this.receive(message),
      failed: (error) => this.log.engine.show(error),
      report: (error) => this.log.engine.report(error),
    });
  }

  private receive({ type }: FromWebview): Thenable<void> | undefined {
    switch (type) {
      case 'ready':
        this.show();
        return undefined;
      case 'filter':
        return vscode.commands.executeCommand(commands.filterTrajectories);
      case 'play':
        return vscode.commands.executeCommand(commands.playNext);
    }
  }

  private showSoon(): void {
    this.timer ??= setTimeout(() => this.show(), AGAIN_AFTER_MS);
  }

  private show(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.send().catch((error: unknown) => this.log.engine.show(error));
  }

  private async send(): Promise<void> {
    if (this.panel === undefined) return;
    const { name, engine } = this.log;
    this.panel.title =
      name === undefined ? t('Trajectories: statistics') : t('Trajectories of {0}: statistics', name);
    const log = await engine.logIfAny();
    const filter = log === undefined ? {} : await this.trajectories.namedFilter(log);
    const shown: ToWebview = {
      type: 'show',
      headline: log === undefined ? '' : headline(log.count(filter), t),
      filter: filterWords(calledFilter(filter, log, engine), t),
      ...statisticsView(log?.outlines(filter) ?? [], language(), (name, grouping) =>
        sharedCalled(name, grouping, log, engine),
      ),
    };
    await this.panel.webview.postMessage(shown);
  }
}
