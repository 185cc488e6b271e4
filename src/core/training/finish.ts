import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../fault';
import { ifThere } from '../trajectory/files';
import { pause } from './pause';
import { runFiles } from './runFolder';
import type { Run, Runs } from './runs';

const POLL_INTERVAL_MS = 250;

export const mayFinish = ({ state, request, progress }: Run): boolean =>
  state === 'running' &&
  request === undefined &&
  progress?.state === 'running' &&
  isPolicy(progress.stage) &&
  (progress.step ?? 0) > 0;

/** True for the policy stage of any round. */
const isPolicy = (stage = ''): boolean => /^policy(-\d+)?$/.test(stage);

/**
 * Asks a run to end its policy after the current step and to write the model of its best step; waits until the trainer
 * is gone. The request stands until the run is done: a run that is stopped, fails or is killed first obeys it after a
 * resume.
 * @throws {Fault} `training/not-running`, `training/no-policy`
 * @throws the signal's reason when it is aborted; the request stands
 */
export async function finishRun(
  runs: Runs,
  id: string,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<Run> {
  const run = await runs.find(id);
  if (run.request !== 'finish') {
    refuse(run);
    await ifThere(() => writeFile(join(run.folder, runFiles.finish), '', { flag: 'a' }));
  }
  while ((await runs.read(run.id))?.isLive === true) await pause(POLL_INTERVAL_MS, signal);
  return runs.find(run.id);
}

function refuse(run: Run): void {
  const { id, isLive, state, request, progress } = run;
  if (mayFinish(run)) return;
  if (!isLive || request === 'stop') {
    const now = request === 'stop' ? 'stopping' : state;
    throw new Fault('training/not-running', `The run ${id} is not running; it is ${now}.`);
  }
  const { stage = 'prepare' } = progress ?? {};
  const message =
    stage === 'export'
      ? `The run ${id} is writing its model already.`
      : `The run ${id} has no policy yet that could be kept: it is ${state}, at ${stage}. Wait for the first steps of its policy, or stop it, which writes a checkpoint.`;
  throw new Fault('training/no-policy', message);
}
