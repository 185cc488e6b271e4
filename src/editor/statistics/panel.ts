import * as vscode from 'vscode';
import { statisticsTable } from '../../core/evaluation/report/statistics';
import { courseOf, groupsOf, type Unit } from '../../core/evaluation/statistics';
import type { Outline } from '../../core/trajectory/log';
import {
  groupings,
  type FromWebview,
  type Grouping,
  type ToWebview,
} from '../../../webview/statistics/protocol';
import { idOf } from '../contributions';
import { language } from '../language';
import { namesOf } from '../displayNames';
import type { Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { saveOfPage } from '../savePage';
import { ListPanel, type ListContext, type Listed } from '../dialogue/listPanel';
import { headline } from '../dialogue/words';
import { dates } from '../words';

const { t } = vscode.l10n;

class StatisticsPanel extends ListPanel<FromWebview, ToWebview> {
  constructor(
    panel: vscode.WebviewPanel,
    private readonly on: ListContext,
  ) {
    super(panel, on, { name: 'statistics', icon: 'graph' });
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => this.show(),
    filter: () => this.chooseFilter(),
    play: () => vscode.commands.executeCommand(idOf('playNext')),
    save: ({ file }) => saveOfPage(file, this.on.log.engine),
  };

  protected override async send({ log, filter, filterInWords, engine, name }: Listed): Promise<void> {
    this.title = name === undefined ? t('Dialogues: statistics') : t('Dialogues of {0}: statistics', name);
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

export const statisticsPanels = (on: ListContext): Panels<'one', StatisticsPanel> =>
  onePanel('statistics', on.log.engine, (panel) => new StatisticsPanel(panel, on));

/** @param namesOf returns shown names by the logged ones */
export function statisticsView(
  rows: readonly Outline[],
  language: string,
  namesOf: (names: readonly string[], grouping: Grouping) => ReadonlyMap<string, string>,
): Pick<ToWebview, 'unit' | 'periods' | 'groups'> {
  const { unit, periods } = courseOf(rows);
  const groups = groupings.map((grouping) => {
    const logged = groupsOf(rows, grouping);
    const names = namesOf(
      logged.map(({ name }) => name),
      grouping,
    );
    const named = logged.map((group) => ({ ...group, name: names.get(group.name)! }));
    return [grouping, statisticsTable({ name: heads[grouping], head: heads[grouping] }, named)];
  });
  const named = periods.map((period) => ({ ...period, name: dateIn(period.from, unit, language) }));
  return {
    unit,
    periods: statisticsTable({ name: t('From'), head: t('From') }, named),
    groups: Object.fromEntries(groups) as ToWebview['groups'],
  };
}

const heads: Readonly<Record<Grouping, string>> = {
  agent: t('Agent'),
  pack: t('Pack'),
  collaborator: t('Collaborator'),
};

function dateIn(from: number, unit: Unit, language: string): string {
  const options: Intl.DateTimeFormatOptions =
    unit === 'hour'
      ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }
      : unit === 'month'
        ? { month: 'short', year: 'numeric' }
        : { day: 'numeric', month: 'short' };
  return dates(language, options).format(from);
}
