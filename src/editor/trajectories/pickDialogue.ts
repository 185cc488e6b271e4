import * as vscode from 'vscode';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { grouped } from './words';

const { t } = vscode.l10n;

/** More rows than these are not shown but searched. */
const MOST_ROWS = 200;

export interface DialogueItem extends vscode.QuickPickItem {
  /** Undefined in the row that says how many are not shown. */
  readonly episode?: string;
}

export interface DialogueChoice {
  readonly log: Pick<TrajectoryLog, 'list'>;
  /** The id of the task that all of them are about. */
  readonly task: string;
  /** One that is not offered. */
  readonly except?: string;
  readonly itemOf: (summary: TrajectorySummary) => vscode.QuickPickItem;
  readonly title: string;
  readonly placeholder: string;
}

/** Asks for one of the dialogues of a task, newest first. @returns its id; undefined when the person turned back */
export async function pickDialogue(choice: DialogueChoice): Promise<string | undefined> {
  const picker = vscode.window.createQuickPick<DialogueItem>();
  Object.assign(picker, { title: choice.title, placeholder: choice.placeholder });
  Object.assign(picker, { matchOnDescription: true, matchOnDetail: true });
  const show = (query: string): void => {
    picker.items = dialogueItems(choice, query);
  };
  show('');
  picker.onDidChangeValue(show);
  try {
    return await new Promise((resolve) => {
      picker.onDidAccept(() => {
        const episode = picker.selectedItems[0]?.episode;
        if (episode !== undefined) resolve(episode);
      });
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
  } finally {
    picker.dispose();
  }
}

/**
 * While all of them are shown, the picker narrows its rows itself. Of more the log is asked what is typed, which it finds in
 * names and ids, and what is not shown is said.
 */
export function dialogueItems({ log, task, except, itemOf }: DialogueChoice, query: string): DialogueItem[] {
  const all = log.list({ filter: { task }, offset: 0, limit: MOST_ROWS + 1 });
  const isWhole = all.rows.length <= MOST_ROWS;
  const { rows, total } = isWhole
    ? all
    : log.list({ filter: { task, text: query }, offset: 0, limit: MOST_ROWS });
  const items = rows
    .filter(({ id }) => id !== except)
    .map((row): DialogueItem => ({ ...itemOf(row), alwaysShow: !isWhole, episode: row.id }));
  if (rows.length < total) {
    const label = t('{0} more: type the name of an agent or of a human', grouped(total - rows.length));
    return [...items, { label, alwaysShow: true }];
  }
  if (items.length > 0 || isWhole) return items;
  return [{ label: t('No agent, human or id of these dialogues has: {0}', query.trim()), alwaysShow: true }];
}
