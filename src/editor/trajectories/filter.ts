import type { Outcome, TrajectoryFilter } from '../../core/trajectory/log';

/** What a person can narrow the list by, and what is shown of it. */
export type ListFilter = Pick<
  TrajectoryFilter,
  'pack' | 'agent' | 'collaborator' | 'outcome' | 'stars' | 'leaked' | 'since' | 'until' | 'text'
>;

export const outcomeNames: Readonly<Record<Outcome, string>> = {
  success: 'passed all tests',
  failure: 'failed a test',
  'not-graded': 'not graded',
  open: 'open',
  abandoned: 'abandoned or skipped',
};

export const starsWords = (stars: number): string => {
  if (stars === 0) return 'not rated';
  return stars === 5 ? '5 stars' : `${stars} stars or more`;
};

export const leakWords = (leaked: boolean): string => (leaked ? 'with a leak' : 'without a leak');

export const isFiltered = (filter: ListFilter): boolean => filterWords(filter) !== '';

/** `passed all tests · since 2026-03-01 · agent starter`, what may be long last; empty when nothing is filtered. */
export function filterWords(filter: ListFilter): string {
  const { pack, agent, collaborator, outcome, stars, leaked, text } = filter;
  return [
    ...(outcome === undefined ? [] : [outcomeNames[outcome]]),
    ...(stars === undefined ? [] : [starsWords(stars)]),
    ...(leaked === undefined ? [] : [leakWords(leaked)]),
    ...datesWords(filter),
    ...(pack === undefined ? [] : [`pack ${pack}`]),
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(collaborator === undefined ? [] : [`human ${collaborator}`]),
    ...(text === undefined ? [] : [`“${text}”`]),
  ].join(' · ');
}

/** The dates as a person chose them: days of local time, the last one included. */
export function datesWords({ since, until }: ListFilter): string[] {
  const last = until === undefined ? undefined : dayOf(Date.parse(until) - 1);
  if (since !== undefined && last !== undefined) {
    const first = dayOf(Date.parse(since));
    return [first === last ? `on ${first}` : `from ${first} to ${last}`];
  }
  if (since !== undefined) return [`since ${dayOf(Date.parse(since))}`];
  return last === undefined ? [] : [`up to ${last}`];
}

/** `2026-03-01`, in local time. @param time milliseconds since 1970 */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** From the first of the days to the last, both included; a day is `2026-03-01`, in local time. */
export function days(
  first: string | undefined,
  last: string | undefined,
): Pick<ListFilter, 'since' | 'until'> {
  return {
    ...(first !== undefined && { since: midnight(first).toISOString() }),
    ...(last !== undefined && { until: midnight(last, 1).toISOString() }),
  };
}

/** What is wrong with a day that a person typed; undefined when nothing is. */
export function validateDay(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  const isDay =
    /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) && dayOf(midnight(text.trim()).getTime()) === text.trim();
  return isDay ? undefined : 'Write the day as year-month-day, e.g. 2026-03-01, or leave it empty.';
}

function midnight(day: string, later = 0): Date {
  const [year, month, date] = day.split('-').map(Number);
  return new Date(year!, month! - 1, date! + later);
}
