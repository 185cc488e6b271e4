import { courseOf, groupsOf, type Period, type Unit } from '../../core/evaluation/statistics';
import type { Outline } from '../../core/trajectory/log';
import {
  groupings,
  type Grouping,
  type GroupView,
  type ToWebview,
} from '../../../webview/statistics/protocol';

/**
 * Returns the figures of some dialogues as the view draws them, with dates in a language.
 * @param calledBy returns the name that a person sees for a group
 */
export function statisticsView(
  rows: readonly Outline[],
  language: string,
  calledBy: (name: string, grouping: Grouping) => string,
): Pick<ToWebview, 'unit' | 'periods' | 'groups'> {
  const { unit, periods } = courseOf(rows);
  const groups = groupings.map((grouping) => [
    grouping,
    toldApart(groupsOf(rows, grouping), (name) => calledBy(name, grouping)),
  ]);
  return {
    unit,
    periods: periods.map((period) => periodView(period, unit, language)),
    groups: Object.fromEntries(groups) as Record<Grouping, readonly GroupView[]>,
  };
}

/** Gives groups the names that a person sees; those that would share one keep the name that the log has. */
function toldApart<Group extends { readonly name: string }>(
  groups: readonly Group[],
  calledBy: (name: string) => string,
): Group[] {
  const byName = Map.groupBy(groups, ({ name }) => calledBy(name));
  return groups.map((group) => {
    const name = calledBy(group.name);
    return byName.get(name)!.length === 1 ? { ...group, name } : group;
  });
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
