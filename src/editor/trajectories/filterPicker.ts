import * as vscode from 'vscode';
import { outcomes, type TrajectoryLog } from '../../core/trajectory/log';
import {
  datesWords,
  dayOf,
  days,
  isFiltered,
  leakWords,
  outcomeNames,
  starsWords,
  validateDay,
  type ListFilter,
} from './filter';
import { dialogues, grouped } from './words';

const ANY = 'Any';
const DAY = 24 * 3600 * 1000;

/** A value of one dimension; `filter` is what the whole filter becomes when it is chosen. */
interface Choice extends vscode.QuickPickItem {
  readonly filter?: ListFilter;
  /** Asks for more before the filter is known; undefined when the person went back. */
  readonly ask?: () => Promise<ListFilter | undefined>;
}

interface Dimension extends vscode.QuickPickItem {
  readonly choices: () => readonly Choice[];
}

/**
 * Sets the filter in two steps that go round: what to filter by, and which value. Each choice takes effect at once, so
 * that the list behind shows it; Escape ends.
 */
export async function pickFilter(
  log: TrajectoryLog,
  current: () => ListFilter,
  apply: (filter: ListFilter) => void,
): Promise<void> {
  for (;;) {
    const filter = current();
    const clear: vscode.QuickPickItem = { label: '$(clear-all) Clear the filter' };
    const dimension = await vscode.window.showQuickPick<Dimension | vscode.QuickPickItem>(
      [...dimensionsOf(log, filter), ...(isFiltered(filter) ? [separator, clear] : [])],
      {
        title: `Filter Trajectories: ${dialogues(log.count(filter).total)}`,
        placeHolder: 'What to filter by. Escape shows the list.',
      },
    );
    if (dimension === undefined) return;
    if (!('choices' in dimension)) {
      apply({});
      return;
    }
    const choice = await vscode.window.showQuickPick(dimension.choices(), {
      title: `Filter by ${dimension.label}`,
      matchOnDescription: true,
    });
    const chosen = choice?.ask === undefined ? choice?.filter : await choice.ask();
    if (chosen !== undefined) apply(chosen);
  }
}

const separator: vscode.QuickPickItem = { label: '', kind: vscode.QuickPickItemKind.Separator };

function dimensionsOf(log: TrajectoryLog, filter: ListFilter): Dimension[] {
  const { pack, agent, collaborator, outcome, stars, leaked, text } = filter;
  const named = (
    label: string,
    description: string | undefined,
    choices: () => readonly Choice[],
  ): Dimension => ({
    label,
    description: description ?? ANY.toLowerCase(),
    choices,
  });
  return [
    named('Pack', pack, () => shared(log, filter, 'pack')),
    named('Agent', agent, () => shared(log, filter, 'agent')),
    named('Human', collaborator, () => shared(log, filter, 'collaborator')),
    named('Outcome', outcome && outcomeNames[outcome], () =>
      listed(
        log,
        filter,
        'outcome',
        outcomes.map((value) => [outcomeNames[value], value]),
      ),
    ),
    named('Rating', stars === undefined ? undefined : starsWords(stars), () =>
      listed(
        log,
        filter,
        'stars',
        [5, 4, 3, 2, 1, 0].map((value) => [starsWords(value), value]),
      ),
    ),
    named('Leak', leaked === undefined ? undefined : leakWords(leaked), () =>
      listed(
        log,
        filter,
        'leaked',
        [true, false].map((value) => [leakWords(value), value]),
      ),
    ),
    named('Date', datesWords(filter)[0], () => dates(log, filter)),
    named('Text', text, () => texts(filter)),
  ];
}

/** The values that are in the log, as far as the rest of the filter leaves them. */
function shared(log: TrajectoryLog, filter: ListFilter, name: 'pack' | 'agent' | 'collaborator'): Choice[] {
  const others = { ...filter, [name]: undefined };
  const values = log.valuesOf(name, others);
  return [
    { label: ANY, filter: others },
    ...values.map(({ value, count }) => ({
      label: value,
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
    counted(log, 'Today', from(0)),
    counted(log, 'The last 7 days', from(6)),
    counted(log, 'The last 30 days', from(29)),
    { label: 'From … to …', ask: () => askDays(others) },
  ];
}

async function askDays(others: ListFilter): Promise<ListFilter | undefined> {
  const ask = (prompt: string): Thenable<string | undefined> =>
    vscode.window.showInputBox({
      title: 'Filter by Date',
      prompt,
      placeHolder: dayOf(Date.now()),
      validateInput: validateDay,
    });
  const first = await ask('The first day; empty: from the beginning');
  if (first === undefined) return undefined;
  const last = await ask('The last day; empty: up to now');
  if (last === undefined) return undefined;
  const day = (text: string): string | undefined => (text.trim() === '' ? undefined : text.trim());
  return { ...others, ...days(day(first), day(last)) };
}

function texts(filter: ListFilter): Choice[] {
  const others = { ...filter, text: undefined };
  const ask = async (): Promise<ListFilter | undefined> => {
    const text = await vscode.window.showInputBox({
      title: 'Filter by Text',
      prompt: 'Found in the name of the task, the pack, the agent or the human',
      value: filter.text ?? '',
    });
    return text === undefined ? undefined : { ...others, text: text.trim() === '' ? undefined : text.trim() };
  };
  return [
    { label: ANY, filter: others },
    { label: 'Containing …', ask },
  ];
}

function counted(log: TrajectoryLog, label: string, filter: ListFilter): Choice {
  return { label, description: grouped(log.count(filter).total), filter };
}
