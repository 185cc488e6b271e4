import * as vscode from 'vscode';
import { stateIcon } from './items';
import type { Packs, ListedTask } from './packs';
import type { PlayedTasks } from './playedTasks';
import { excerpt, searchTasks } from './search';
import { stateWords } from './status';

const { t } = vscode.l10n;

/** Maximum number of rows; people narrow a longer list instead of reading it. */
const MAX_ROWS = 200;

interface Row extends vscode.QuickPickItem {
  readonly task?: ListedTask;
}

/** The rows are searched here: the picker would need all descriptions, and shows only one line of each. */
export async function findTask(packs: Packs, played: PlayedTasks): Promise<ListedTask | undefined> {
  const [all] = await Promise.all([packs.all(), played.read()]);
  const names = new Map(all.map(({ file, name }) => [file, name]));
  const tasks = all.flatMap((pack) => pack.tasks);
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = t('Find Task');
  picker.placeholder = t('Search in titles and descriptions');
  const show = (query: string): void => {
    const found = searchTasks(tasks, query, MAX_ROWS);
    const rows = found.tasks.map((task) => row(task, query, names.get(task.pack) ?? '', played));
    picker.items = [...rows, ...restOf(found.total, rows.length, query)];
  };
  show('');
  picker.onDidChangeValue(show);
  try {
    return await chosen(picker);
  } finally {
    picker.dispose();
  }
}

function chosen(picker: vscode.QuickPick<Row>): Promise<ListedTask | undefined> {
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      const task = picker.selectedItems[0]?.task;
      if (task !== undefined) resolve(task);
    });
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
}

function row(task: ListedTask, query: string, pack: string, played: PlayedTasks): Row {
  const state = played.state(task);
  return {
    label: task.title,
    iconPath: stateIcon(state),
    description: [pack, stateWords(state, task.tests, t)].filter(Boolean).join(' · '),
    detail: excerpt(task.description, query),
    alwaysShow: true,
    task,
  };
}

function restOf(total: number, shown: number, query: string): Row[] {
  if (total > shown) {
    return [{ label: t('{0} more: type more words', total - shown), alwaysShow: true }];
  }
  if (total > 0) return [];
  return [{ label: t('No task has all of these words: {0}', query.trim()), alwaysShow: true }];
}
