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
} from '../dialogue/filter';
import { dimensionsOf, type FilterValue, type Dimension } from './filterDimensions';
import { groupingName, type ListGrouping } from './grouping';
import type { SavedFilter, SavedFilters } from './savedFilters';

const { t } = vscode.l10n;

export interface FilteredList {
  filter: ListFilter;
  grouping: ListGrouping;
  readonly saved: SavedFilters;
  namedFilter(log: TrajectoryLog): Promise<ListFilter>;
}

interface Deed extends vscode.QuickPickItem {
  readonly saved?: SavedFilter;
  readonly run: () => unknown;
}

/** Two steps that repeat: the dimension, then the value. Each choice takes effect at once; Escape ends. */
export async function pickFilter(log: TrajectoryLog, namer: RunNamer, list: FilteredList): Promise<void> {
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

/** Returns what a person chose as a text; two filters with the same choices have the same one. */
const asText = (filter: ListFilter): string => JSON.stringify(chosenOf(filter));

function savedItems(
  list: FilteredList,
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

function wholeItems(list: FilteredList): (Deed | vscode.QuickPickItem)[] {
  return [
    separator,
    { label: `$(save) ${t('Save the filter…')}`, run: () => saveFilter(list) },
    { label: `$(clear-all) ${t('Clear the filter')}`, run: () => (list.filter = {}) },
  ];
}

export async function saveFilter({ filter, grouping, saved }: FilteredList): Promise<void> {
  const names = saved.all.map(({ name }) => name);
  const name = valueOf(
    await askText({
      title: t('Save Filter: {0}', filterWords(filter, t)),
      prompt:
        names.length === 0
          ? t('Name of the filter in “Filter Dialogues…”')
          : t(
              'Name of the filter in “Filter Dialogues…”. The same name replaces one of these: {0}',
              names.join(', '),
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
