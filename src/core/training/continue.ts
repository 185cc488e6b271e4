import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { copyFolder } from '../regularFile';
import { ifThere } from '../trajectory/files';
import { writeQueued } from './lifecycle';
import { EVENTS_VERSION } from './events';
import { isUsedBy, methodNamed } from './methods';
import { endOfPolicy } from './progress';
import { KEPT_GB, readWhole, runFiles, writeWhole } from './runFolder';
import type { Run, Runs } from './runs';
import { makeRun } from './start';

interface ContinueOptions {
  /** Added to the configuration's. May be a fraction; 0 is allowed for a policy that ended before its last step. */
  readonly epochs: number;
  readonly name: string;
}

const configurationSchema = z.looseObject({
  policy: z.looseObject({ more_epochs: z.number().default(0) }).default({ more_epochs: 0 }),
});

/**
 * Not copied, because they belong to the finished run: its result and evaluations, processes, requests and notes, and
 * the tracked position.
 */
const OWN: readonly string[] = [
  ...[runFiles.model, runFiles.launch, runFiles.process, runFiles.log, runFiles.stop, runFiles.finish],
  ...[
    'lock',
    runFiles.alive,
    runFiles.killed,
    runFiles.queued,
    runFiles.checkpoints,
    runFiles.kept,
    runFiles.job,
    runFiles.ray,
    runFiles.told,
    runFiles.notes,
    runFiles.tracked,
    runFiles.evaluations,
  ],
];

/**
 * The new run has the same data and critic; the learning rate stays at its final value
 * (docs/decisions/more-epochs.md). A policy that ended before its last step first does its remaining steps. The
 * finished run is not changed. The new run is put into the queue; `beginNext` starts it.
 * @throws {Fault} `training/not-done`, `training/nothing-more`, `training/nothing-kept`, `training/not-written`
 */
export async function continueRun(runs: Runs, id: string, { epochs, name }: ContinueOptions): Promise<Run> {
  const { state, folder, progress, method, id: whole } = await runs.find(id);
  if (state !== 'done') {
    const message = `The run ${whole} is ${state}. Only one that is done can be given more epochs; others are resumed.`;
    throw new Fault('training/not-done', message);
  }
  if (epochs === 0 && (progress === undefined || endOfPolicy(progress) === undefined)) {
    const message = `The run ${whole} has had all its epochs. Name how many more it should have, above 0.`;
    throw new Fault('training/nothing-more', message);
  }
  if (!isUsedBy(method, 'policy.more_epochs')) {
    const message = `The run ${whole} is one of ${methodNamed(method)?.title ?? method}, which takes no more epochs. Duplicate it with settings that train longer, or train its result by another run.`;
    throw new Fault('training/nothing-more', message);
  }
  const kept = join(folder, runFiles.kept);
  if ((await ifThere(() => stat(kept))) === undefined) {
    const message = `The run ${whole} has no checkpoint to continue from. A run that is done keeps them up to ${KEPT_GB} GB, which those of large models trained whole are above, and one of an older Tandem keeps none. Duplicate it with more epochs instead (policy.epochs): that trains from the beginning.`;
    throw new Fault('training/nothing-kept', message);
  }
  const configuration = await readWhole(join(folder, runFiles.configuration), configurationSchema);
  const policy = configuration?.policy ?? { more_epochs: 0 };
  const changed = {
    ...configuration,
    name,
    // Patience 0 turns early stopping off, because the user asked for these epochs. The step to keep is still chosen on
    // the held-out examples.
    policy: { ...policy, more_epochs: policy.more_epochs + epochs, patience: 0 },
  };
  const made = await makeRun(runs, async (unfinished) => {
    await copy(folder, unfinished, OWN);
    await copy(kept, join(unfinished, runFiles.checkpoints));
    await writeWhole(join(unfinished, runFiles.configuration), changed);
    await appendFile(
      join(unfinished, runFiles.events),
      `${JSON.stringify(continued(whole, progress?.latest?.stage))}\n`,
    );
    await writeQueued(unfinished);
  });
  return runs.find(made);
}

/** Marks the copied events of a finished run as those of a stopped one. */
const continued = (id: string, stage = 'policy'): object => ({
  version: EVENTS_VERSION,
  at: new Date().toISOString(),
  event: 'state',
  state: 'stopped',
  stage,
  message: `It continues where the run ${id} ended.`,
});

async function copy(from: string, to: string, without: readonly string[] = []): Promise<void> {
  const left = new Set(without.map((name) => join(from, name)));
  await copyFolder(from, to, (file) => !left.has(file));
}
