import * as z from 'zod';
import { lazily } from '../../core/lazily';
import { outcomes, type Outcome, type TrajectoryFilter } from '../../core/trajectory/index/query';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { sharedCalled, type Namer } from '../models/called';
import type { Translate } from '../translate';

/** The part of a log's filter that a person can set in the list. */
export type ListFilter = Pick<
  TrajectoryFilter,
  'pack' | 'agent' | 'collaborator' | 'outcome' | 'stars' | 'leaked' | 'since' | 'until' | 'text' | 'named'
>;

export const filterSchema = lazily((): z.ZodType<ListFilter> => {
  const day = z.iso.datetime().exactOptional();
  const text = z.string().exactOptional();
  return z.object({
    ...{ pack: text, agent: text, collaborator: text, text, since: day, until: day },
    outcome: z.enum(outcomes).exactOptional(),
    stars: z.int().min(0).max(5).exactOptional(),
    leaked: z.boolean().exactOptional(),
  });
});

export function outcomeName(outcome: Outcome, t: Translate): string {
  switch (outcome) {
    case 'success':
      return t('passed all tests');
    case 'failure':
      return t('failed a test');
    case 'not-graded':
      return t('not graded');
    case 'open':
      return t('in progress');
    case 'abandoned':
      return t('abandoned or skipped');
  }
}

export function starsWords(stars: number, t: Translate): string {
  if (stars === 0) return t('not rated');
  return stars === 5 ? t('5 stars') : t('{0} stars or more', stars);
}

export const leakWords = (leaked: boolean, t: Translate): string =>
  leaked ? t('with a leak') : t('without a leak');

export const isFiltered = (filter: ListFilter): boolean =>
  Object.values<unknown>(filter).some((value) => value !== undefined);

/**
 * Returns for example `passed all tests · since 2026-03-01 · agent starter`, long parts last; empty without a filter.
 */
export function filterWords(filter: ListFilter, t: Translate): string {
  const { pack, agent, collaborator, outcome, stars, leaked, text } = filter;
  return [
    ...(outcome === undefined ? [] : [outcomeName(outcome, t)]),
    ...(stars === undefined ? [] : [starsWords(stars, t)]),
    ...(leaked === undefined ? [] : [leakWords(leaked, t)]),
    ...datesWords(filter, t),
    ...(pack === undefined ? [] : [t('pack {0}', pack)]),
    ...(agent === undefined ? [] : [t('agent {0}', agent)]),
    ...(collaborator === undefined ? [] : [t('human {0}', collaborator)]),
    ...(text === undefined ? [] : [`“${text}”`]),
  ].join(' · ');
}

/** Returns the same filter with the names that people see for models; for display only. */
export function calledFilter(
  filter: ListFilter,
  log: Pick<TrajectoryLog, 'count'> | undefined,
  namer: Namer,
): ListFilter {
  const { agent, collaborator } = filter;
  return {
    ...filter,
    ...(agent !== undefined && { agent: sharedCalled(agent, 'agent', log, namer) }),
    ...(collaborator !== undefined && {
      collaborator: sharedCalled(collaborator, 'collaborator', log, namer),
    }),
  };
}

/**
 * Returns the same filter, whose text is matched against the names on the screen, too.
 * @param titles of tasks, by their ids
 */
export function namedFilter(
  filter: ListFilter,
  titles: ReadonlyMap<string, { readonly title: string }>,
  log: Pick<TrajectoryLog, 'count' | 'valuesOf'>,
  namer: Namer,
): ListFilter {
  const text = filter.text?.trim().toLowerCase() ?? '';
  if (text === '') return filter;
  const named = new Set<string>();
  for (const [task, { title }] of titles) if (title.toLowerCase().includes(text)) named.add(task);
  for (const grouping of ['agent', 'collaborator'] as const) {
    for (const { value } of log.valuesOf(grouping)) {
      if (sharedCalled(value, grouping, log, namer).toLowerCase().includes(text)) named.add(value);
    }
  }
  return { ...filter, named };
}

/** Returns the dates as a person chose them: days of local time, the last one included. */
export function datesWords({ since, until }: ListFilter, t: Translate): string[] {
  const last = until === undefined ? undefined : dayOf(Date.parse(until) - 1);
  if (since !== undefined && last !== undefined) {
    const first = dayOf(Date.parse(since));
    return [first === last ? t('on {0}', first) : t('from {0} to {1}', first, last)];
  }
  if (since !== undefined) return [t('since {0}', dayOf(Date.parse(since)))];
  return last === undefined ? [] : [t('up to {0}', last)];
}

/**
 * Returns for example `2026-03-01`, in local time.
 * @param time milliseconds since 1970
 */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Returns the filter from the first of the days to the last, both included; a day is `2026-03-01`, in local time. */
export function days(
  first: string | undefined,
  last: string | undefined,
): Pick<ListFilter, 'since' | 'until'> {
  return {
    ...(first !== undefined && { since: midnight(first).toISOString() }),
    ...(last !== undefined && { until: midnight(last, 1).toISOString() }),
  };
}

/** Returns the error in a typed day; undefined when there is none. */
export function validateDay(text: string, t: Translate): string | undefined {
  if (text.trim() === '') return undefined;
  const isDay =
    /^\d{4}-\d{2}-\d{2}$/.test(text.trim()) && dayOf(midnight(text.trim()).getTime()) === text.trim();
  return isDay ? undefined : t('Enter the day as year-month-day, e.g. 2026-03-01, or leave it empty.');
}

function midnight(day: string, later = 0): Date {
  const [year, month, date] = day.split('-').map(Number);
  return new Date(year!, month! - 1, date! + later);
}
