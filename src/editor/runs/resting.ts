import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { diskUse } from '../../core/training/diskUse';
import { runFiles } from '../../core/training/runFolder';
import { Runs, type Run } from '../../core/training/runs';
import type { Engine } from '../engine';
import { inUse } from '../models/words';
import { bytesWords, runName } from './words';

const { t } = vscode.l10n;

/** The data folder of a run. */
export const runsOf = ({ folder }: Run): Runs => new Runs(path.dirname(path.dirname(folder)));

/**
 * Asks, with how much room it takes, and removes a run with its checkpoints and its models.
 * @returns whether it is gone
 */
export async function deleteRun(run: Run, engine: Engine): Promise<boolean> {
  const name = runName(run, t);
  if (run.isLive)
    throw new Fault('training/running', t('{0} is at work. Pause it first, then delete it.', name));
  refusePlaying(run, engine, name);
  const size = bytesWords(await diskUse(run.folder), t);
  const canTrash = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  const remove = t('Delete');
  const chosen = await vscode.window.showWarningMessage(
    t('Delete the run “{0}” ({1})?', name, size),
    {
      modal: true,
      detail: canTrash
        ? t('Its checkpoints, its models and its log go to the trash: {0}', run.folder)
        : t(
            'Its checkpoints, its models and its log are gone for good: {0}. The dialogues that it learned from stay.',
            run.folder,
          ),
    },
    remove,
  );
  if (chosen !== remove) return false;
  const { removeRun } = await import('../../core/training/control');
  await removeRun(runsOf(run), run.id, (folder) =>
    vscode.workspace.fs.delete(vscode.Uri.file(folder), { recursive: true, useTrash: canTrash }),
  );
  return true;
}

/** A model that plays would be gone in the middle of a dialogue. */
function refusePlaying({ folder }: Run, { playing, localPlaces, configuration }: Engine, name: string): void {
  const model = path.join(folder, runFiles.model);
  if (!playing.includes(model)) return;
  const spec = localPlaces.find((place) => place.folder === model)?.spec;
  throw new Fault(
    'editor/model-in-use',
    inUse(name, spec === configuration.simulator ? 'simulator' : 'agent', t),
  );
}
