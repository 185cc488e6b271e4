import * as vscode from 'vscode';
import { scaleInWords } from '../../core/evaluation/pages/words';
import {
  courseOf,
  groupsOf,
  type GroupStatistics,
  type Period,
  type Unit,
} from '../../core/evaluation/statistics';
import type { Outline } from '../../core/trajectory/log';
import {
  type FromWebview,
  type ToWebview,
  groupings,
  type Grouping,
  type GroupView,
} from '../../../webview/statistics/protocol';
import { idOf } from '../contributions';
import { language } from '../language';
import { namesOf } from '../displayNames';
import type { Asks } from '../panel';
import { onePanel, type Panels } from '../panels';
import { saveOfPage } from '../savePage';
import { ListPanel, type ListContext, type Listed } from '../dialogue/listPanel';
import { headline } from '../dialogue/words';

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
    return [grouping, logged.map((group) => groupView(group, names.get(group.name)!))];
  });
  return {
    unit,
    periods: periods.map((period) => periodView(period, unit, language)),
    groups: Object.fromEntries(groups) as Record<Grouping, readonly GroupView[]>,
  };
}

function periodView({ from, ...figures }: Period, unit: Unit, language: string): GroupView {
  const options: Intl.DateTimeFormatOptions =
    unit === 'hour'
      ? { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }
      : unit === 'month'
        ? { month: 'short', year: 'numeric' }
        : { day: 'numeric', month: 'short' };
  // English dates begin with the day, as in other languages: `8 Mar`.
  const locale = language === 'en' ? 'en-GB' : language;
  return groupView(figures, new Date(from).toLocaleString(locale, options));
}

const groupView = ({ pages, ...figures }: GroupStatistics, name: string): GroupView => ({
  ...figures,
  ...(pages && {
    pages: pages.map(({ scale, dialogues, score }) => ({ scale: scaleInWords(scale), dialogues, score })),
  }),
  name,
});
