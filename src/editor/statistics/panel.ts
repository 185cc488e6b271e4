import * as vscode from 'vscode';
import type { FromWebview, ToWebview } from '../../../webview/statistics/protocol';
import { idOf } from '../contributions';
import { language } from '../language';
import { namesOf } from '../models/displayNames';
import type { Panels } from '../panel';
import { saveOfPage } from '../savePage';
import { ListPanel, onePanel, type ListContext, type Listed } from '../trajectories/listPanel';
import { headline } from '../trajectories/words';
import { statisticsView } from './view';

const { t } = vscode.l10n;

class StatisticsPanel extends ListPanel<'statistics', ToWebview> {
  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: ListContext,
  ) {
    super(panel, on, { name: 'statistics', icon: 'graph' });
  }

  override receive(message: FromWebview): Thenable<void> | undefined {
    switch (message.type) {
      case 'ready':
        this.show();
        return undefined;
      case 'filter':
        return this.chooseFilter();
      case 'play':
        return vscode.commands.executeCommand(idOf('playNext'));
      case 'save':
        return saveOfPage(message.file, this.on.log.engine);
    }
  }

  protected override async send({ log, filter, filterInWords, engine, name }: Listed): Promise<void> {
    this.title =
      name === undefined ? t('Trajectories: statistics') : t('Trajectories of {0}: statistics', name);
    await this.post({
      type: 'show',
      headline: log === undefined ? '' : headline(log.count(filter), t),
      filter: filterInWords,
      ...statisticsView(log?.outlines(filter) ?? [], language(), (names, grouping) =>
        namesOf(names, grouping, log, engine),
      ),
    });
  }
}

export const statisticsPanels = (on: ListContext): Panels<'log', StatisticsPanel> =>
  onePanel('statistics', on, (panel) => new StatisticsPanel(panel, on));
