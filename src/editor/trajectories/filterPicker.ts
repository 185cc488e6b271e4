import * as vscode from 'vscode';
import type { Grouping } from '../../core/evaluation/statistics';
import { outcomes } from '../../core/trajectory/index/query';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { sharedCalled, type Namer } from '../models/called';
import {
  calledFilter,
  datesWords,
  dayOf,
  days,
  isFiltered,
  leakWords,
  outcomeName,
  starsWords,
  validateDay,
  type ListFilter,
} from './filter';
import { grouped } from '../../core/text';
import { dialogues } from './words';
import { askText, pickOne, valueOf } from '../steps';

const { t } = vscode.l10n;

const ANY = t('Any');
const DAY = 24 * 3600 * 1000;

/** A value of one dimension; `filter` is the whole filter after this choice. */
interface Choice extends vscode.QuickPickItem {
  readonly filter?: ListFilter;
  /** Asks for more before the filter is known; returns undefined when the person went back. */
  readonly ask?: () => Promise<ListFilter | undefined>;
}

interface Dimension extends vscode.QuickPickItem {
  readonly choices: () => readonly Choice[];
}

/**
 * Sets the filter in two steps that repeat: the dimension, then the value. Each choice takes effect at once, so that
 * the list behind shows it; Escape ends.
 */
export async function pickFilter(
  log: TrajectoryLog,
  namer: Namer,
  current: () => Promise<ListFilter>,
  apply: (filter: ListFilter) => void,
): Promise<void> {
  for (;;) {
    const filter = await current();
    const clear: vscode.QuickPickItem = { label: `$(clear-all) ${t('Clear the filter')}` };
    const dimension = valueOf(
      await pickOne<Dimension | vscode.QuickPickItem>({
        title: t('Filter Trajectories: {0}', dialogues(log.count(filter).total, t)),
        placeholder: t('Choose what to filter by. Escape shows the list.'),
        items: [...dimensionsOf(log, filter, namer), ...(isFiltered(filter) ? [separator, clear] : [])],
      }),
    );
    if (dimension === undefined) return;
    if (!('choices' in dimension)) {
      apply({});
      return;
    }
    const title = t('Filter by {0}', dimension.label);
    const items = dimension.choices();
    const choice = valueOf(await pickOne<Choice>({ title, items, matchOnDescription: true }));
    const chosen = choice?.ask === undefined ? choice?.filter : await choice.ask();
    if (chosen !== undefined) apply(chosen);
  }
}

const separator: vscode.QuickPickItem = { label: '', kind: vscode.QuickPickItemKind.Separator };

function dimensionsOf(log: TrajectoryLog, filter: ListFilter, namer: Namer): Dimension[] {
  const { pack, agent, collaborator, outcome, stars, leaked, text } = calledFilter(filter, log, namer);
  const named = (
    label: string,
    description: string | undefined,
    choices: () => readonly Choice[],
  ): Dimension => ({
    label,
    description: description ?? t('any'),
    choices,
  });
  return [
    named(t('Pack'), pack, () => shared(log, filter, 'pack', namer)),
    named(t('Agent'), agent, () => shared(log, filter, 'agent', namer)),
    named(t('Human'), collaborator, () => shared(log, filter, 'collaborator', namer)),
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
    named(t('Leak'), leaked === undefined ? undefined : leakWords(leaked, t), () =>
      listed(
        log,
        filter,
        'leaked',
        [true, false].map((value) => [leakWords(value, t), value]),
      ),
    ),
    named(t('Date'), datesWords(filter, t)[0], () => dates(log, filter)),
    named(t('Text'), text, () => texts(filter)),
  ];
}

/** Returns the values in the log that the rest of the filter leaves. */
function shared(log: TrajectoryLog, filter: ListFilter, name: Grouping, namer: Namer): Choice[] {
  const others = { ...filter, [name]: undefined };
  const values = log.valuesOf(name, others);
  return [
    { label: ANY, filter: others },
    ...values.map(({ value, count }) => ({
      label: sharedCalled(value, name, log, namer),
      description: grouped(count),
      filter: { ...filter, [name]: value },
    })),
  ];
}

function listed<Name extends 'outcome' | 'stars' | 'leaked'>(
  log: TrajectoryLog,
  filter: ListFilter,
  name: Name,
  values: readonly (readonly [label: string, value: ListFilter[Name]])[],
): Choice[] {
  return [
    { label: ANY, filter: { ...filter, [name]: undefined } },
    ...values.map(([label, value]) => counted(log, label, { ...filter, [name]: value })),
  ];
}

function dates(log: TrajectoryLog, filter: ListFilter): Choice[] {
  const others: ListFilter = { ...filter, since: undefined, until: undefined };
  const from = (daysBack: number): ListFilter => ({
    ...others,
    ...days(dayOf(Date.now() - daysBack * DAY), undefined),
  });
  return [
    { label: ANY, filter: others },
    counted(log, t('Today'), from(0)),
    counted(log, t('The last 7 days'), from(6)),
    counted(log, t('The last 30 days'), from(29)),
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

function texts(filter: ListFilter): Choice[] {
  const others = { ...filter, text: undefined };
  const ask = async (): Promise<ListFilter | undefined> => {
    const text = valueOf(
      await askText({
        title: t('Filter by Text'),
        prompt: t('Found in the name of the task, the pack, the agent or the human'),
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

function counted(log: TrajectoryLog, label: string, filter: ListFilter): Choice {
  return { label, description: grouped(log.count(filter).total), filter };
}
