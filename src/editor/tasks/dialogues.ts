import * as vscode from 'vscode';
import type { Engine } from '../engine';
import { collaboratorCalled } from '../models/called';
import { pickDialogue } from '../trajectories/pickDialogue';
import { ago, outcomeWords } from '../trajectories/words';
import type { PackTask } from './packs';

const { t } = vscode.l10n;

/**
 * Asks for one of the dialogues about a task, newest first, whoever played them.
 * @returns its id; undefined when the person turned back, or there is none
 */
export async function chooseDialogue(engine: Engine, task: PackTask): Promise<string | undefined> {
  const log = await engine.log();
  const { total } = log.list({ filter: { task: task.id }, offset: 0, limit: 0 });
  if (total === 0) {
    void vscode.window.showInformationMessage(t('Nobody has played {0} yet.', task.title));
    return undefined;
  }
  const now = Date.now();
  return pickDialogue({
    ...{ log, task: task.id },
    itemOf: (row) => ({
      label: outcomeWords(row, task.tests, t),
      description: ago(row.startedAt, now, t),
      detail: t(
        'agent: {0} · collaborator: {1} · turns: {2}',
        engine.calledBy(row.agent),
        collaboratorCalled(row.collaborator, engine),
        row.turns,
      ),
    }),
    title: t('Dialogues About {0}', task.title),
    placeholder: total === 1 ? t('1 dialogue') : t('{0} dialogues, newest first', total),
  });
}
