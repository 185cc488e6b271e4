import * as vscode from 'vscode';
import { statusIcons } from './items';
import { taskStatuses, taskStatusWords, type TaskStatus } from './status';

const { t } = vscode.l10n;

interface FilteredList {
  filter: ReadonlySet<TaskStatus> | undefined;
  counts(): Promise<{ readonly each: ReadonlyMap<TaskStatus, number> }>;
}

/** A choice of nothing or of everything shows all. @returns whether the person chose */
export async function askFilter(tree: FilteredList): Promise<boolean> {
  const { each } = await tree.counts();
  const rows = taskStatuses.map((status) => ({
    label: `$(${statusIcons[status]}) ${taskStatusWords(status, t)}`,
    description: String(each.get(status) ?? 0),
    picked: tree.filter?.has(status) ?? false,
    status,
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: t('Filter Tasks'),
    placeHolder: t('Choose the tasks to show. None chosen: all.'),
    canPickMany: true,
  });
  if (chosen === undefined) return false;
  const wanted = new Set(chosen.map(({ status }) => status));
  tree.filter = wanted.size === 0 || wanted.size === taskStatuses.length ? undefined : wanted;
  return true;
}

/** Returns for example `draft, skipped`. */
export function filterWords(filter: ReadonlySet<TaskStatus>): string {
  return taskStatuses
    .filter((status) => filter.has(status))
    .map((status) => taskStatusWords(status, t))
    .join(', ');
}
