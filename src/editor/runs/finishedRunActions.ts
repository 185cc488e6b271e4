import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { diskUse, modelOf } from '../../core/training/runFolder';
import { runsOf, type Run } from '../../core/training/runs';
import type { Engine } from '../engine';
import { inUse, rolesOf } from '../roles';
import { deletionWords, liveWords } from './confirmations';
import { runName } from '../run/words';

const { t } = vscode.l10n;

/**
 * Asks first, with the disk space that the runs take.
 * @param onGone called for each run when its folder is gone
 * @throws {Fault} `training/running`, `training/lost`, `editor/model-in-use`: then all of them stay
 */
export async function deleteRuns(
  runs: readonly Run[],
  engine: Engine,
  onGone: (run: Run) => void,
): Promise<void> {
  if (runs.length === 0) return;
  refuseLive(runs);
  for (const run of runs) refusePlaying(run, engine);
  const canTrash = vscode.env.uiKind === vscode.UIKind.Desktop && vscode.env.remoteName === undefined;
  const remove = t('Delete');
  const { question, detail } = deletionWords(runs, await sizesOf(runs), canTrash, t);
  const chosen = await vscode.window.showWarningMessage(question, { modal: true, detail }, remove);
  if (chosen !== remove) return;
  const { removeRun } = await import('../../core/training/lifecycle');
  for (const run of runs) {
    await removeRun(
      runsOf(run),
      run.id,
      (folder) =>
        vscode.workspace.fs.delete(vscode.Uri.file(folder), { recursive: true, useTrash: canTrash }),
      { takeOver: run.state === 'lost' },
    );
    onGone(run);
  }
}

const sizesOf = (runs: readonly Run[]): Promise<number[]> =>
  Promise.all(runs.map(({ folder }) => diskUse(folder)));

function refuseLive(runs: readonly Run[]): void {
  const live = runs.filter(({ isLive }) => isLive);
  if (live.length === 0) return;
  throw new Fault('training/running', liveWords(live, runs.length, t));
}

/** A model in use would be gone in the middle of a dialogue. */
function refusePlaying(run: Run, { playing, localPlaces, configuration }: Engine): void {
  const model = modelOf(run);
  if (!playing.includes(model)) return;
  const spec = localPlaces.find((place) => place.folder === model)?.spec ?? '';
  const [role = 'agent'] = rolesOf(spec, configuration);
  throw new Fault('editor/model-in-use', inUse(runName(run, t), role, t));
}
