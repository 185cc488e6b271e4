import * as z from 'zod';
import { lazily } from '../../core/lazily';
import {
  outcomes,
  reviewFilters,
  sources,
  type Outcome,
  type ReviewFilter,
  type Source,
  type TrajectoryFilter,
} from '../../core/trajectory/index/filter';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { shortened } from '../../../webview/dialogue/protocol';
import { sharedCalled, type Namer, toldApart } from '../displayNames';
import type { Translate } from '../translate';
import { lowerFirst } from '../words';
import type { TrainedBy } from '../localModels';

const DAY = 24 * 3600 * 1000;

export interface ListFilter extends Pick<
  TrajectoryFilter,
  | 'source'
  | 'pack'
  | 'agent'
  | 'agents'
  | 'collaborator'
  | 'outcome'
  | 'stars'
  | 'review'
  | 'leaked'
  | 'since'
  | 'until'
  | 'tag'
  | 'text'
  | 'named'
> {
  readonly run?: string;
  /** Started today (1), or in as many days up to today. It takes the place of `since`. */
  readonly lastDays?: number;
}

/** A filter with a part that this version does not know is not read at all, because it would find more than it says. */
export const filterSchema = lazily((): z.ZodType<ListFilter> => {
  const day = z.iso.datetime().exactOptional();
  const text = z.string().exactOptional();
  return z.strictObject({
    ...{ pack: text, agent: text, run: text, collaborator: text, tag: text, text, since: day, until: day },
    source: z.enum(sources).exactOptional(),
    outcome: z.enum(outcomes).exactOptional(),
    stars: z.int().min(0).max(5).exactOptional(),
    review: z.enum(reviewFilters).exactOptional(),
    leaked: z.boolean().exactOptional(),
    lastDays: z.int().min(1).exactOptional(),
  });
});

/** Returns what a person chose of a filter, without what `namedFilter` finds each time. */
export function chosenOf(filter: ListFilter): ListFilter {
  const { named: _, agents: __, ...chosen } = filter;
  if (chosen.lastDays === undefined) return chosen;
  const { since: ___, ...undated } = chosen;
  return undated;
}

export const sourceName = (source: Source, t: Translate): string =>
  ({
    played: t('Played'),
    collected: t('Collected'),
    evaluation: t('Evaluation'),
    elsewhere: t('From elsewhere'),
  })[source];

export const outcomeName = (outcome: Outcome, t: Translate): string =>
  ({
    success: t('passed all tests'),
    failure: t('failed a test'),
    'not-graded': t('not graded'),
    open: t('in progress'),
    abandoned: t('abandoned or skipped'),
  })[outcome];

export function starsWords(stars: number, t: Translate): string {
  if (stars === 0) return t('not rated');
  if (stars === 1) return t('1 star or more');
  return stars === 5 ? t('5 stars') : t('{0} stars or more', stars);
}

export const reviewName = (review: ReviewFilter, t: Translate): string =>
  ({ accepted: t('accepted'), redo: t('to be redone'), none: t('not reviewed') })[review];

export const leakWords = (leaked: boolean, t: Translate): string =>
  leaked ? t('with a leak') : t('without a leak');

export const isFiltered = (filter: ListFilter): boolean =>
  (Object.values(filter) as unknown[]).some((value) => value !== undefined);

/** Returns for example `passed all tests · since 2026-03-01 · agent starter`, long parts last. */
export function filterWords(filter: ListFilter, t: Translate): string {
  const { source, pack, agent, run, collaborator, outcome, stars, review, leaked, tag, text } = filter;
  const parts = [
    source && lowerFirst(sourceName(source, t)),
    outcome && outcomeName(outcome, t),
    stars !== undefined && starsWords(stars, t),
    review && reviewName(review, t),
    leaked !== undefined && leakWords(leaked, t),
    ...datesWords(filter, t),
    tag !== undefined && `#${tag}`,
    pack !== undefined && t('pack {0}', pack),
    agent !== undefined && t('agent {0}', agent),
    run !== undefined && t('run {0}', run),
    collaborator !== undefined && t('collaborator {0}', collaborator),
    text !== undefined && `“${text}”`,
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Returns a named filter with the names that rows show for models and runs; for display only. */
export function calledFilter(
  filter: ListFilter,
  log: Pick<TrajectoryLog, 'count'> | undefined,
  namer: RunNamer,
): ListFilter {
  const { agent, run, agents = [], collaborator } = filter;
  return {
    ...filter,
    ...(run !== undefined && { run: runCalled(run, agents, namer) }),
    ...(agent !== undefined && { agent: shortened(sharedCalled(agent, 'agent', log, namer)) }),
    ...(collaborator !== undefined && {
      collaborator: shortened(sharedCalled(collaborator, 'collaborator', log, namer)),
    }),
  };
}

/**
 * Returns the same filter for a query of the log: its run stands for agents, its last days for a date, and its text is
 * matched against the names on the screen, too.
 * @param titles of tasks, by their ids
 */
export function namedFilter(
  filter: ListFilter,
  titles: ReadonlyMap<string, { readonly title: string }>,
  log: Pick<TrajectoryLog, 'count' | 'namesOf' | 'valuesOf'>,
  namer: RunNamer,
): ListFilter {
  const { run } = filter;
  const text = filter.text?.trim().toLowerCase() ?? '';
  return {
    ...withDates(filter),
    ...(run !== undefined && {
      agents: agentsByRun(log, {}, namer).runs.find(({ id }) => id === run)?.agents ?? new Set(),
    }),
    ...(text !== '' && { named: namesWith(text, titles, log, namer) }),
  };
}

function namesWith(
  text: string,
  titles: ReadonlyMap<string, { readonly title: string }>,
  log: Pick<TrajectoryLog, 'count' | 'namesOf'>,
  namer: Namer,
): ReadonlySet<string> {
  const named = new Set<string>();
  for (const [task, { title }] of titles) if (title.toLowerCase().includes(text)) named.add(task);
  const hasText = (name: string): boolean => name.toLowerCase().includes(text);
  for (const grouping of ['agent', 'collaborator'] as const) {
    for (const name of log.namesOf(grouping)) {
      // Whether a person has the name takes long to find out, and matters only if the model's name has the text.
      if (hasText(namer.calledBy(name)) && hasText(sharedCalled(name, grouping, log, namer))) named.add(name);
    }
  }
  return named;
}

export function withDates(filter: ListFilter): ListFilter {
  const { lastDays } = filter;
  if (lastDays === undefined) return filter;
  return { ...filter, ...days(dayOf(Date.now() - (lastDays - 1) * DAY), undefined) };
}

export const lastDaysWords = (lastDays: number, t: Translate): string =>
  lastDays === 1 ? t('Today') : t('The last {0} days', lastDays);

/** Returns the dates as a person chose them: days of local time, the last one included. */
export function datesWords({ since, until, lastDays }: ListFilter, t: Translate): string[] {
  if (lastDays !== undefined) return [lowerFirst(lastDaysWords(lastDays, t))];
  const last = until === undefined ? undefined : dayOf(Date.parse(until) - 1);
  if (since !== undefined && last !== undefined) {
    const first = dayOf(Date.parse(since));
    return [first === last ? t('on {0}', first) : t('from {0} to {1}', first, last)];
  }
  if (since !== undefined) return [t('since {0}', dayOf(Date.parse(since)))];
  return last === undefined ? [] : [t('up to {0}', last)];
}

/** Returns for example `2026-03-01`, as Swedes write days, in local time. @param time milliseconds since 1970 */
export const dayOf = (time: number): string => new Date(time).toLocaleDateString('sv-SE');

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

export function validateDay(text: string, t: Translate): string | undefined {
  const day = text.trim();
  if (day === '' || dayOf(midnight(day).getTime()) === day) return undefined;
  return t('Enter the day as year-month-day, e.g. 2026-03-01, or leave it empty.');
}

function midnight(day: string, later = 0): Date {
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + later);
  return date;
}

export interface RunNamer extends Namer {
  runOf(agent: string): TrainedBy | undefined;
}

interface PlayedRun extends TrainedBy {
  readonly agents: ReadonlySet<string>;
  readonly count: number;
}

/** Runs with the most dialogues come first; equal names get the end of the run's id. */
export function agentsByRun(
  log: Pick<TrajectoryLog, 'valuesOf'>,
  filter: TrajectoryFilter,
  namer: RunNamer,
): { readonly runs: readonly PlayedRun[]; readonly others: ReadonlySet<string> } {
  const byId = new Map<string, { name: string; agents: Set<string>; count: number }>();
  const others = new Set<string>();
  for (const { value, count } of log.valuesOf('agent', filter)) {
    const run = namer.runOf(value);
    if (run === undefined) {
      others.add(value);
      continue;
    }
    const known = byId.get(run.id) ?? { name: run.name, agents: new Set(), count: 0 };
    known.agents.add(value);
    known.count += count;
    byId.set(run.id, known);
  }
  const played = [...byId].map(([id, run]) => ({ id, ...run }));
  const runs = toldApart(played, ({ id, name }) => `${name} (${id.slice(-4)})`);
  return { runs: runs.sort((a, b) => b.count - a.count), others };
}

function runCalled(id: string, agents: Iterable<string>, namer: RunNamer): string {
  for (const agent of agents) {
    const run = namer.runOf(agent);
    if (run?.id === id) return run.name;
  }
  return id;
}
