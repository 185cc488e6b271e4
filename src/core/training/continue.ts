import { constants } from 'node:fs';
import { appendFile, cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { ifThere, writeAtomically } from '../trajectory/files';
import { writeQueued } from './control';
import { EVENTS_VERSION } from './events';
import { KEPT_GB, readWhole, runFiles } from './runFolder';
import type { Run, Runs } from './runs';
import { makeRun } from './start';

export interface ContinueOptions {
  /** Of the policy, after those of its configuration; part of one will do, and none of one that was ended before them. */
  readonly epochs: number;
  readonly name: string;
}

const configurationSchema = z.looseObject({
  policy: z.looseObject({ more_epochs: z.number().default(0) }).default({ more_epochs: 0 }),
});

/** What belongs to the one run and not to the other: its result, its processes, and who waits for it. */
const OWN: readonly string[] = [
  ...[runFiles.model, runFiles.launch, runFiles.process, runFiles.log, runFiles.stop, runFiles.finish],
  ...['lock', runFiles.killed, runFiles.queued, runFiles.checkpoints, runFiles.kept],
];

/**
 * Makes a run that goes on where one that is done has ended, for more epochs of its policy, with the same data and the
 * same critic; the learning rate stays at what it had come down to (docs/decisions/more-epochs.md). One that was ended by
 * request has the rest of its own steps first. The one that is done stays as it is. The new one waits for its turn, which `beginNext` gives it.
 *
 * @throws {Fault} `training/not-done`, `training/nothing-more`, `training/nothing-kept`, `training/not-written`
 */
export async function continueRun(runs: Runs, id: string, { epochs, name }: ContinueOptions): Promise<Run> {
  const { state, folder, progress, id: whole } = await runs.find(id);
  if (state !== 'done') {
    const message = `The run ${whole} is ${state}. Only one that is done can be given more epochs; others are resumed.`;
    throw new Fault('training/not-done', message);
  }
  if (epochs === 0 && progress?.ended === undefined) {
    const message = `The run ${whole} has had all its epochs. Say how many more it is to have, above 0.`;
    throw new Fault('training/nothing-more', message);
  }
  const kept = join(folder, runFiles.kept);
  if ((await ifThere(() => stat(kept))) === undefined) {
    const message = `The run ${whole} has kept no checkpoint from which it could go on. A run that is done keeps them up to ${KEPT_GB} GB, which those of large models trained whole are above, and one of an older Tandem keeps none. Duplicate it with more epochs instead (policy.epochs): that trains from the beginning.`;
    throw new Fault('training/nothing-kept', message);
  }
  const configuration = await readWhole(join(folder, runFiles.configuration), configurationSchema);
  const policy = configuration?.policy ?? { more_epochs: 0 };
  const changed = {
    ...configuration,
    name,
    // Whoever asks for more epochs gets them. Which step is used is still for the held-out examples to say.
    policy: { ...policy, more_epochs: policy.more_epochs + epochs, patience: 0 },
  };
  const made = await makeRun(runs, async (unfinished) => {
    await copy(folder, unfinished, OWN);
    await copy(kept, join(unfinished, runFiles.checkpoints));
    await writeAtomically(join(unfinished, runFiles.configuration), (file) =>
      file.writeFile(`${JSON.stringify(changed, undefined, 2)}\n`),
    );
    await appendFile(
      join(unfinished, runFiles.events),
      `${JSON.stringify(continued(whole, progress?.latest?.stage))}\n`,
    );
    await writeQueued(unfinished);
  });
  return runs.find(made);
}

/** Its events so far are those of the other run; it is not done as that one is. */
const continued = (id: string, stage = 'policy'): object => ({
  version: EVENTS_VERSION,
  at: new Date().toISOString(),
  event: 'state',
  state: 'stopped',
  stage,
  message: `It goes on where the run ${id} has ended.`,
});

/** Where the file system can, both share the blocks until one of them is written. */
async function copy(from: string, to: string, without: readonly string[] = []): Promise<void> {
  const left = new Set(without.map((name) => join(from, name)));
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    filter: (file) => !left.has(file),
  });
}
