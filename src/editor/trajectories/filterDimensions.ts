import * as vscode from 'vscode';
import type { Grouping } from '../../core/evaluation/statistics';
import { outcomes, reviewFilters, sources } from '../../core/trajectory/index/filter';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { namesOf, sharedCalled } from '../displayNames';
import {
  lastDaysWords,
  days,
  datesWords,
  starsWords,
  dayOf,
  calledFilter,
  reviewName,
  leakWords,
  withDates,
  outcomeName,
  sourceName,
  validateDay,
  type ListFilter,
  agentsByRun,
  type RunNamer,
} from '../dialogue/filter';
import { grouped } from '../../core/text';
import { askText, valueOf } from '../inputSteps';

const { t } = vscode.l10n;

const ANY = t('Any');

/** A value of one dimension; `filter` is the whole filter after this choice. */
export interface FilterValue extends vscode.QuickPickItem {
  readonly filter?: ListFilter;
  /** Asks for more before the filter is known; returns undefined when the person went back. */
  readonly ask?: () => Promise<ListFilter | undefined>;
}

export interface Dimension extends vscode.QuickPickItem {
  readonly choices: () => readonly FilterValue[];
}

export function dimensionsOf(log: TrajectoryLog, filter: ListFilter, namer: RunNamer): Dimension[] {
  const called = calledFilter(filter, log, namer);
  const { source, pack, agent, run, collaborator, outcome, stars, review, leaked, tag, text } = called;
  const named = (
    label: string,
    description: string | undefined,
    choices: () => readonly FilterValue[],
  ): Dimension => ({
    label,
    description: description ?? t('any'),
    choices,
  });
  return [
    named(t('Source'), source && sourceName(source, t), () =>
      listed(
        log,
        filter,
        'source',
        sources.map((value) => [sourceName(value, t), value]),
      ),
    ),
    named(t('Pack'), pack, () => shared(log, filter, 'pack', namer)),
    named(t('Agent'), agent, () => shared(log, filter, 'agent', namer)),
    named(t('Run'), run, () => ofRuns(log, filter, namer)),
    named(t('Collaborator'), collaborator, () => shared(log, filter, 'collaborator', namer)),
    named(t('Outcome'), outcome && outcomeName(outcome, t), () =>
      listed(
        log,
        filter,
        'outcome',
        outcomes.map((value) => [outcomeName(value, t), value]),
      ),
    ),
    named(t('Rating'), stars === undefined ? undefined : starsWords(stars, t), () =>
      listed(
        log,
        filter,
        'stars',
        [5, 4, 3, 2, 1, 0].map((value) => [starsWords(value, t), value]),
      ),
    ),
    named(t('Review'), review && reviewName(review, t), () =>
      listed(
        log,
        filter,
        'review',
        reviewFilters.map((value) => [reviewName(value, t), value]),
      ),
    ),
    named(t('Leak'), leaked === undefined ? undefined : leakWords(leaked, t), () =>
      listed(
        log,
        filter,
        'leaked',
        [true, false].map((value) => [leakWords(value, t), value]),
      ),
    ),
    named(t('Date'), datesWords(filter, t)[0], () => dates(log, filter)),
    named(t('Tag'), tag, () => tags(log, filter)),
    named(t('Text'), text, () => texts(filter)),
  ];
}

/** Returns the values in the log that the rest of the filter leaves. */
function shared(log: TrajectoryLog, filter: ListFilter, name: Grouping, namer: RunNamer): FilterValue[] {
  const others = { ...filter, [name]: undefined };
  const values = log.valuesOf(name, others);
  const names = namesOf(
    values.map(({ value }) => value),
    ...([name, log, namer] as const),
  );
  return [
    { label: ANY, filter: others },
    ...values.map(({ value, count }) => {
      const called = sharedCalled(value, name, log, namer);
      const label = names.get(value)!;
      // A short name is not the whole one, which stands behind it.
      const isWhole = label === called || label === value;
      const description = [grouped(count), ...(isWhole ? [] : [called])].join(' · ');
      return { label, description, filter: { ...filter, [name]: value } };
    }),
  ];
}

function ofRuns(log: TrajectoryLog, filter: ListFilter, namer: RunNamer): FilterValue[] {
  const others: ListFilter = { ...filter, run: undefined, agents: undefined };
  return [
    { label: ANY, filter: others },
    ...agentsByRun(log, others, namer).runs.map(({ id, name, count }) => ({
      label: name,
      description: grouped(count),
      filter: { ...others, run: id },
    })),
  ];
}

function tags(log: TrajectoryLog, filter: ListFilter): FilterValue[] {
  const others = { ...filter, tag: undefined };
  return [
    { label: ANY, filter: others },
    ...log.valuesOf('tags', others).map(({ value, count }) => ({
      label: `#${value}`,
      description: grouped(count),
      filter: { ...filter, tag: value },
    })),
  ];
}

function listed<Name extends 'source' | 'outcome' | 'stars' | 'review' | 'leaked'>(
  log: TrajectoryLog,
  filter: ListFilter,
  name: Name,
  values: readonly (readonly [label: string, value: ListFilter[Name]])[],
): FilterValue[] {
  return [
    { label: ANY, filter: { ...filter, [name]: undefined } },
    ...values.map(([label, value]) => counted(log, label, { ...filter, [name]: value })),
  ];
}

function dates(log: TrajectoryLog, filter: ListFilter): FilterValue[] {
  const others: ListFilter = { ...filter, since: undefined, until: undefined, lastDays: undefined };
  return [
    { label: ANY, filter: others },
    ...[1, 7, 30].map((lastDays) =>
      counted(log, lastDaysWords(lastDays, t), withDates({ ...others, lastDays })),
    ),
    { label: t('From … to …'), ask: () => askDays(others) },
  ];
}

async function askDays(others: ListFilter): Promise<ListFilter | undefined> {
  const ask = async (prompt: string): Promise<string | undefined> =>
    valueOf(
      await askText({
        title: t('Filter by Date'),
        prompt,
        placeholder: dayOf(Date.now()),
        validate: (text) => validateDay(text, t),
      }),
    );
  const first = await ask(t('The first day; empty: from the beginning'));
  if (first === undefined) return undefined;
  const last = await ask(t('The last day; empty: up to now'));
  if (last === undefined) return undefined;
  const day = (text: string): string | undefined => (text === '' ? undefined : text);
  return { ...others, ...days(day(first), day(last)) };
}

function texts(filter: ListFilter): FilterValue[] {
  const others = { ...filter, text: undefined };
  const ask = async (): Promise<ListFilter | undefined> => {
    const text = valueOf(
      await askText({
        title: t('Filter by Text'),
        prompt: t('In the task, pack, agent, collaborator, title, tags or note'),
        value: filter.text ?? '',
      }),
    );
    return text === undefined ? undefined : { ...others, text: text === '' ? undefined : text };
  };
  return [
    { label: ANY, filter: others },
    { label: t('Containing …'), ask },
  ];
}

function counted(log: TrajectoryLog, label: string, filter: ListFilter): FilterValue {
  return { label, description: grouped(log.count(filter).total), filter };
}
