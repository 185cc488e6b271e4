import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import { changeNotes, MOST } from '../../core/training/runNotes';
import { inOneLine, listIn } from '../../core/text';
import type { App, CommandRow } from '../app';
import { chooseRun } from './choosing';
import { runName } from './words';

const { t } = vscode.l10n;

/** Asks for another name of a run; without one it has that of its configuration again. */
export async function renameRun(app: App, row: CommandRow): Promise<void> {
  const [run] = runsAt(app, row);
  if (run === undefined) return;
  const name = await ask({
    title: t('Rename {0}', runName(run, t)),
    prompt: t('Name of the run. Empty gives it the name in its configuration again.'),
    value: run.name,
    most: MOST.name,
  });
  if (name !== undefined) await change(app, [run], () => ({ name }));
}

/** Asks for the tags of the selected runs. Tags that only some of them have stay as they are. */
export async function tagRuns(app: App, row: CommandRow, selected?: readonly CommandRow[]): Promise<void> {
  const runs = runsAt(app, row, selected);
  const [first] = runs;
  if (first === undefined) return;
  const common = (first.tags ?? []).filter((tag) => runs.every(({ tags = [] }) => tags.includes(tag)));
  const others = [...new Set(app.runWatch.around(first).flatMap(({ tags = [] }) => tags))].sort();
  const text = await vscode.window.showInputBox({
    title: runs.length === 1 ? t('Tags of {0}', runName(first, t)) : t('Tags of {0} Runs', runs.length),
    prompt:
      others.length === 0
        ? t('Words to find the run by, with commas between them')
        : t('Words to find the run by, with commas between them. In use: {0}', others.join(', ')),
    value: common.join(', '),
    validateInput: (typed) => wrongTags(tagsIn(typed)),
  });
  if (text === undefined) return;
  const typed = tagsIn(text);
  const gone = common.filter((tag) => !typed.includes(tag));
  await change(app, runs, ({ tags }) => ({
    tags: [...new Set([...tags.filter((tag) => !gone.includes(tag)), ...typed])].slice(0, MOST.tags),
  }));
}

/** Asks for the note on a run. */
export async function noteOnRun(app: App, row: CommandRow): Promise<void> {
  const [run] = runsAt(app, row);
  if (run === undefined) return;
  const note = await ask({
    title: t('Note on {0}', runName(run, t)),
    prompt: t('What the run is for, or what came of it'),
    value: run.note ?? '',
    most: MOST.note,
  });
  if (note !== undefined) await change(app, [run], () => ({ note }));
}

/** Asks for a run by its name, tags, note, method or base model, and opens it. */
export async function findRun({ runPanels, runWatch }: App): Promise<void> {
  await runWatch.look();
  const run = await chooseRun(
    runWatch.all,
    t('Search in names, tags, notes, methods and base models'),
    t('Find Run'),
  );
  if (run !== undefined) await runPanels.open(run);
}

/** Returns the runs that a command is about, as last seen; a key passes no row, and means the selection. */
function runsAt(
  { runTree }: App,
  row: CommandRow,
  selected: readonly CommandRow[] = row === undefined ? runTree.selection : [row],
): Run[] {
  return selected.flatMap((one) => (one?.kind === 'run' ? [one.run] : []));
}

async function ask({
  most,
  ...options
}: {
  readonly title: string;
  readonly prompt: string;
  readonly value: string;
  /** Maximum number of characters. */
  readonly most: number;
}): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({
    ...options,
    validateInput: (typed) => (inOneLine(typed).length > most ? tooLong(most) : undefined),
  });
  return text === undefined ? undefined : inOneLine(text);
}

const tooLong = (most: number): string => t('That is too long: write at most {0} characters.', most);

const tagsIn = (text: string): string[] => [...new Set(listIn(inOneLine(text), ','))];

function wrongTags(tags: readonly string[]): string | undefined {
  if (tags.length > MOST.tags) return t('These are too many: write at most {0} tags.', MOST.tags);
  const long = tags.find((tag) => tag.length > MOST.tag);
  return long === undefined
    ? undefined
    : t('“{0}” is too long: write at most {1} characters for a tag.', long, MOST.tag);
}

async function change(
  { runWatch }: App,
  runs: readonly Run[],
  to: Parameters<typeof changeNotes>[1],
): Promise<void> {
  try {
    for (const { folder } of runs) await changeNotes(folder, to);
  } finally {
    await runWatch.look();
  }
}
