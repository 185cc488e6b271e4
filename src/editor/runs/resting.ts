import path from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { Fault } from '../../core/fault';
import { removeRun } from '../../core/training/control';
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

const configurationSchema = z.looseObject({
  name: z.string().optional(),
  data: z.looseObject({}).optional(),
});

/** The configuration of a run as a new document, to be changed and started: on the same data, under another name. */
export async function duplicateRun(run: Run): Promise<vscode.TextDocument> {
  const file = vscode.Uri.file(path.join(run.folder, runFiles.configuration));
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  const configuration = configurationSchema.parse(JSON.parse(text));
  const data = Object.fromEntries(
    Object.entries(configuration.data ?? {}).map(([field, value]) => [field, fromFolder(value, field, run)]),
  );
  const copy = { ...configuration, name: t('{0}, changed', runName(run, t)), data };
  const document = await vscode.workspace.openTextDocument({
    language: 'json',
    content: `${JSON.stringify(copy, undefined, 2)}\n`,
  });
  await vscode.window.showTextDocument(document);
  return document;
}

/** Its files of rows stand in its folder, which is not where the copy will be. */
function fromFolder(value: unknown, field: string, { folder }: Run): unknown {
  const isFiles = field === 'trajectories' || field === 'preferences';
  if (!isFiles || !Array.isArray(value)) return value;
  return value.map((file: unknown) => (typeof file === 'string' ? path.resolve(folder, file) : file));
}
