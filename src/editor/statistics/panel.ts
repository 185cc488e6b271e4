import * as vscode from 'vscode';
import type { FromWebview, ToWebview } from '../../../webview/statistics/protocol';
import { idOf } from '../contributions';
import { language } from '../language';
import { unlessClosed } from '../logs';
import { sharedCalled } from '../models/called';
import { Panel, Panels } from '../panel';
import type { ShownLog } from '../shownLog';
import { calledFilter, filterWords } from '../trajectories/filter';
import type { TrajectoryTree } from '../trajectories/tree';
import { headline } from '../trajectories/words';
import { statisticsView } from './view';

const { t } = vscode.l10n;

/** Minimum milliseconds between counts of a log that grows all the time. */
const AGAIN_AFTER_MS = 1000;

interface StatisticsContext {
  readonly extension: vscode.Uri;
  readonly log: ShownLog;
  readonly trajectories: TrajectoryTree;
}

/** The panel with the statistics of what the list of trajectories shows. */
class StatisticsPanel extends Panel<'statistics', ToWebview> {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: StatisticsContext,
  ) {
    super(panel, { ...on, name: 'statistics', icon: 'graph', errors: on.log.engine });
    this.owns(
      on.log.onDidChangeDialogues(() => this.showSoon()),
      on.log.onDidChange(() => this.show()),
      on.trajectories.onDidChangeFilter(() => this.show()),
    );
  }

  override receive({ type }: FromWebview): Thenable<void> | undefined {
    switch (type) {
      case 'ready':
        this.show();
        return undefined;
      case 'filter':
        return vscode.commands.executeCommand(idOf('filterTrajectories'));
      case 'play':
        return vscode.commands.executeCommand(idOf('playNext'));
    }
  }

  protected override onClosed(): void {
    clearTimeout(this.timer);
  }

  private showSoon(): void {
    this.timer ??= setTimeout(() => this.show(), AGAIN_AFTER_MS);
  }

  private show(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    unlessClosed(() => this.send()).catch((error: unknown) => this.on.log.engine.show(error));
  }

  private async send(): Promise<void> {
    const { name, engine } = this.on.log;
    this.title =
      name === undefined ? t('Trajectories: statistics') : t('Trajectories of {0}: statistics', name);
    const log = await engine.logIfAny();
    const filter = log === undefined ? {} : await this.on.trajectories.namedFilter(log);
    await this.post({
      type: 'show',
      headline: log === undefined ? '' : headline(log.count(filter), t),
      filter: filterWords(calledFilter(filter, log, engine), t),
      ...statisticsView(log?.outlines(filter) ?? [], language(), (name, grouping) =>
        sharedCalled(name, grouping, log, engine),
      ),
    });
  }
}

type StatisticsPanels = Panels<'log', StatisticsPanel>;

/** Creates the panel with the statistics, of which there is one. */
export const statisticsPanels = (on: StatisticsContext): StatisticsPanels =>
  new Panels({
    name: 'statistics',
    errors: on.log.engine,
    shows: () => true,
    restore: () => 'log' as const,
    load: () => (panel) => new StatisticsPanel(panel, on),
  });
