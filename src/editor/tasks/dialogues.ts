import * as vscode from 'vscode';
import type { Engine } from '../engine';
import { ago, outcomeWords } from '../trajectories/words';
import type { PackTask } from './packs';

const { t } = vscode.l10n;

const MOST_ROWS = 500;

/**
 * Asks for one of the dialogues about a task, newest first, whoever played them.
 * @returns its id; undefined when the person turned back, or there is none
 */
export async function chooseDialogue(engine: Engine, task: PackTask): Promise<string | undefined> {
  const log = await engine.log();
  const { rows, total } = log.list({ filter: { task: task.id }, offset: 0, limit: MOST_ROWS });
  if (total === 0) {
    void vscode.window.showInformationMessage(t('Nobody has played {0} yet.', task.title));
    return undefined;
  }
  const now = Date.now();
  const items = rows.map((summary) => ({
    label: outcomeWords(summary, task.tests, t),
    description: ago(summary.startedAt, now, t),
    detail: t(
      'agent: {0} · collaborator: {1} · turns: {2}',
      summary.agent,
      summary.collaborator.name,
      summary.turns,
    ),
    episode: summary.id,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: t('Dialogues About {0}', task.title),
    placeHolder: total === 1 ? t('1 dialogue') : t('{0} dialogues, newest first', total),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.episode;
}
