import * as vscode from 'vscode';
import type { TrajectoryLog } from '../../core/trajectory/log';
import { askText, pickOne, valueOf } from '../inputSteps';
import { dialogues, lowerFirst } from '../words';
import {
  calledFilter,
  chosenOf,
  filterWords,
  isFiltered,
  namedFilter,
  type ListFilter,
  type RunNamer,
  lastDaysWords,
  days,
  datesWords,
  starsWords,
  dayOf,
  reviewName,
  leakWords,
  withDates,
  outcomeName,
  sourceName,
  validateDay,
  agentsByRun,
} from '../dialogue/filter';
import { groupingName } from './grouping';
import type { SavedFilter, TrajectoryTree } from './tree';
import type { Grouping } from '../../core/evaluation/statistics';
import { outcomes, reviewFilters, sources } from '../../core/trajectory/index/filter';
import { namesOf, sharedCalled } from '../displayNames';
import { grouped } from '../../core/text';
import type { Translate } from '../translate';

const { t } = vscode.l10n;

interface Deed extends vscode.QuickPickItem {
  readonly saved?: SavedFilter;
  readonly run: () => unknown;
}

/** Two steps that repeat: the dimension, then the value. Each choice takes effect at once; Escape ends. */
export async function pickFilter(log: TrajectoryLog, namer: RunNamer, list: TrajectoryTree): Promise<void> {
  for (;;) {
    const filter = await list.namedFilter(log);
    const items = (): (Dimension | Deed | vscode.QuickPickItem)[] => [
      ...savedItems(list, log, namer),
      ...dimensionsOf(log, filter, namer),
      ...(isFiltered(filter) ? wholeItems(list) : []),
    ];
    const dimension = valueOf(
      await pickOne({
        title: t('Filter Dialogues: {0}', dialogues(log.count(filter).total, t)),
        placeholder: t('Choose what to filter by. Escape shows the list.'),
        items: items(),
        matchOnDescription: true,
        onButton: (item) => {
          if ('saved' in item && item.saved !== undefined) list.saved.remove(item.saved.name);
          return items();
        },
      }),
    );
    if (dimension === undefined) return;
    if ('run' in dimension) {
      await dimension.run();
      return;
    }
    if (!('choices' in dimension)) return;
    const title = t('Filter by {0}', dimension.label);
    const values = dimension.choices();
    const now = asText(filter);
    const current = values.find((one) => one.filter !== undefined && asText(one.filter) === now) ?? values[0];
    const active = (one: FilterValue): boolean => one === current;
    const choice = valueOf(await pickOne({ title, items: values, active, matchOnDescription: true }));
    const chosen = choice?.ask === undefined ? choice?.filter : await choice.ask();
    if (chosen !== undefined) list.filter = chosen;
  }
}

const asText = (filter: ListFilter): string => JSON.stringify(chosenOf(filter));

function savedItems(
  list: TrajectoryTree,
  log: TrajectoryLog,
  namer: RunNamer,
): (Deed | vscode.QuickPickItem)[] {
  const { all } = list.saved;
  if (all.length === 0) return [];
  return [
    heading(t('saved filters')),
    ...all.map((saved) => ({
      label: `$(filter-filled) ${saved.name}`,
      description: savedWords(saved, log, namer),
      buttons: [{ iconPath: new vscode.ThemeIcon('trash'), tooltip: t('Delete Saved Filter') }],
      saved,
      run: () => {
        list.grouping = saved.grouping;
        list.filter = saved.filter;
      },
    })),
    heading(t('filter by')),
  ];
}

function savedWords({ filter, grouping }: SavedFilter, log: TrajectoryLog, namer: RunNamer): string {
  const called = calledFilter(namedFilter(filter, new Map(), log, namer), log, namer);
  const by = lowerFirst(groupingName(grouping, t));
  return [filterWords(called, t), ...(grouping === 'none' ? [] : [t('grouped by {0}', by)])].join(' · ');
}

function wholeItems(list: TrajectoryTree): (Deed | vscode.QuickPickItem)[] {
  return [
    separator,
    { label: `$(save) ${t('Save the filter…')}`, run: () => saveFilter(list) },
    { label: `$(clear-all) ${t('Clear the filter')}`, run: () => (list.filter = {}) },
  ];
}

export async function saveFilter({ filter, grouping, saved }: TrajectoryTree): Promise<void> {
  const names = saved.all.map(({ name }) => name);
  const name = valueOf(
    await askText({
      title: t('Save Filter: {0}', filterWords(filter, t)),
      prompt: t(
        'Name of the filter in “Filter Dialogues…”. A name in use replaces that filter: {0}',
        names.join(', ') || t('none yet'),
      ),
      validate: (text) => (text.trim() === '' ? t('Enter some text.') : undefined),
    }),
  );
  if (name !== undefined) saved.save({ name, filter, grouping });
}

const heading = (label: string): vscode.QuickPickItem => ({
  label,
  kind: vscode.QuickPickItemKind.Separator,
});

const separator = heading('');

const ANY = t('Any');

/** A value of one dimension; `filter` is the whole filter after this choice. */
export interface FilterValue extends vscode.QuickPickItem {
  readonly filter?: ListFilter;
  readonly ask?: () => Promise<ListFilter | undefined>;
}

export interface Dimension extends vscode.QuickPickItem {
  readonly choices: () => readonly FilterValue[];
}

export function dimensionsOf(log: TrajectoryLog, filter: ListFilter, namer: RunNamer): Dimension[] {
  const called = calledFilter(filter, log, namer);
  const dimension = (
    label: string,
    description: string | undefined,
    choices: () => readonly FilterValue[],
  ): Dimension => ({ label, description: description ?? t('any'), choices });
  const shared = (label: string, name: Grouping): Dimension =>
    dimension(label, called[name], () => sharedValues(log, filter, name, namer));
  const listed = <Name extends ListedPart>(
    label: string,
    name: Name,
    values: readonly Required<ListFilter>[Name][],
    words: (value: Required<ListFilter>[Name], translate: Translate) => string,
  ): Dimension => {
    const now = filter[name] as Required<ListFilter>[Name] | undefined;
    return dimension(label, now === undefined ? undefined : words(now, t), () => [
      { label: ANY, filter: { ...filter, [name]: undefined } },
      ...values.map((value) => counted(log, words(value, t), { ...filter, [name]: value })),
    ]);
  };
  return [
    listed(t('Source'), 'source', sources, sourceName),
    shared(t('Pack'), 'pack'),
    shared(t('Agent'), 'agent'),
    dimension(t('Run'), called.run, () => ofRuns(log, filter, namer)),
    shared(t('Collaborator'), 'collaborator'),
    listed(t('Outcome'), 'outcome', outcomes, outcomeName),
    listed(t('Rating'), 'stars', [5, 4, 3, 2, 1, 0], starsWords),
    listed(t('Review'), 'review', reviewFilters, reviewName),
    listed(t('Leak'), 'leaked', [true, false], leakWords),
    dimension(t('Date'), datesWords(filter, t)[0], () => dates(log, filter)),
    dimension(t('Tag'), filter.tag, () => tags(log, filter)),
    dimension(t('Text'), filter.text, () => texts(filter)),
  ];
}

/** Parts of a filter with few values, which are all listed. */
type ListedPart = 'source' | 'outcome' | 'stars' | 'review' | 'leaked';

/** Returns the values in the log that the rest of the filter leaves. */
function sharedValues(
  log: TrajectoryLog,
  filter: ListFilter,
  name: Grouping,
  namer: RunNamer,
): FilterValue[] {
  const others = { ...filter, [name]: undefined };
  const values = log.valuesOf(name, others);
  const logged = values.map(({ value }) => value);
  const names = namesOf(logged, name, log, namer);
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
  return { ...others, ...days(first || undefined, last || undefined) };
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
