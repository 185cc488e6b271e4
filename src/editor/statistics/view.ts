import { courseOf, groupsOf, type Period, type Unit } from '../../core/evaluation/statistics';
import type { Outline } from '../../core/trajectory/log';
import {
  groupings,
  type Grouping,
  type GroupView,
  type ToWebview,
} from '../../../webview/statistics/protocol';

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
    return [grouping, logged.map((group) => ({ ...group, name: names.get(group.name)! }))];
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
  return { name: new Date(from).toLocaleString(locale, options), ...figures };
}
