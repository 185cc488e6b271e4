import * as vscode from 'vscode';
import { standingIcons } from './items';
import { standings, standingWords, type Standing } from './standing';
import type { TaskTree } from './tree';

const { t } = vscode.l10n;

/**
 * Asks which tasks the list shows, by their state and result. Nothing chosen, or everything, shows all.
 * @returns whether the person chose
 */
export async function askFilter(tree: TaskTree): Promise<boolean> {
  const { each } = await tree.counts();
  const rows = standings.map((standing) => ({
    label: `$(${standingIcons[standing]}) ${standingWords(standing, t)}`,
    description: String(each.get(standing) ?? 0),
    picked: tree.filter?.has(standing) ?? false,
    standing,
  }));
  const chosen = await vscode.window.showQuickPick(rows, {
    title: t('Filter Tasks'),
    placeHolder: t('Choose the tasks to show. None chosen: all.'),
    canPickMany: true,
  });
  if (chosen === undefined) return false;
  const wanted = new Set(chosen.map(({ standing }) => standing));
  tree.filter = wanted.size === 0 || wanted.size === standings.length ? undefined : wanted;
  return true;
}

/** `draft, skipped` */
export function filterWords(filter: ReadonlySet<Standing>): string {
  return standings
    .filter((standing) => filter.has(standing))
    .map((standing) => standingWords(standing, t))
    .join(', ');
}
