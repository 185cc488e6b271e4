import * as vscode from 'vscode';
import type { TrajectoryLog } from '../../core/trajectory/log';
import type { TrajectorySummary } from '../../core/trajectory/trajectory';
import { grouped } from '../../core/text';

const { t } = vscode.l10n;

/** Maximum number of rows; a longer list is searched. */
const MAX_ROWS = 200;

interface DialogueItem extends vscode.QuickPickItem {
  /** Id of the dialogue; undefined in the row that says how many are not shown. */
  readonly episode?: string;
}

interface DialogueChoice {
  readonly log: Pick<TrajectoryLog, 'list'>;
  /** Id of the task that all dialogues are about. */
  readonly task: string;
  readonly except?: string;
  readonly itemOf: (summary: TrajectorySummary) => vscode.QuickPickItem;
  readonly title: string;
  readonly placeholder: string;
}

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

/** While all dialogues fit, the picker filters them. Otherwise the log searches names and ids for the typed text. */
export function dialogueItems({ log, task, except, itemOf }: DialogueChoice, query: string): DialogueItem[] {
  const all = log.list({ filter: { task }, offset: 0, limit: MAX_ROWS + 1 });
  const isWhole = all.rows.length <= MAX_ROWS;
  const { rows, total } = isWhole
    ? all
    : log.list({ filter: { task, text: query }, offset: 0, limit: MAX_ROWS });
  const items = rows
    .filter(({ id }) => id !== except)
    .map((row): DialogueItem => ({ ...itemOf(row), alwaysShow: !isWhole, episode: row.id }));
  if (rows.length < total) {
    const label = t('{0} more: type the name of an agent or of a collaborator', grouped(total - rows.length));
    return [...items, { label, alwaysShow: true }];
  }
  if (items.length > 0 || isWhole) return items;
  return [
    { label: t('No agent, collaborator or id of these dialogues has: {0}', query.trim()), alwaysShow: true },
  ];
}
