import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { CollectionResult, PackTask } from '../../core/dialogue/collect';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import type { PackTask as TaskHeader } from '../tasks/pack';
import type { Packs } from '../tasks/packs';
import { refuseInRestrictedMode } from '../trust/restricted';
import type { Extent } from './extent';

const { t } = vscode.l10n;

/** Dialogues in flight at once: a model of this machine writes many together, a server may refuse them. */
const AT_ONCE = { here: 16, elsewhere: 4 };
const SEED = 0;

/** A collection as it is now, and which one it is. */
export interface Collected extends CollectionResult {
  readonly collection: string;
}

/** Whether the agent computes on this machine, so that a dialogue costs little. */
export const playsHere = ({ localPlaces, agentName }: Engine): boolean =>
  localPlaces.some(({ spec }) => spec === agentName);

/**
 * Has the agent of the settings play tasks with the simulator of the settings, as `tandem collect` does, with progress
 * and cancel; what was played until then stays in the log.
 * @param all the tasks that may be played
 * @param choose how many of them, and how often each; told what these two have played already, as `id#rollout`.
 *   Undefined plays nothing.
 * @returns undefined when nothing was chosen or the person cancelled it
 * @throws {Fault} `editor/no-tasks`, `editor/collection-failed`, and as `collect`
 */
export async function collectHere(
  engine: Engine,
  packs: Packs,
  all: readonly TaskHeader[],
  choose: (played: readonly string[]) => Extent<TaskHeader> | PromiseLike<Extent<TaskHeader> | undefined>,
): Promise<Collected | undefined> {
  refuseInRestrictedMode(t('Nothing is played'));
  if (all.length === 0)
    throw new Fault('editor/no-tasks', t('There is no task to play: add a pack in the Tasks view first.'));
  const { collect, collectionName } = await import('../../core/dialogue/collect');
  const { RulesSimulator } = await import('../../core/dialogue/simulator');
  const parts = {
    log: await engine.log(),
    agent: await engine.openAgent(),
    simulator: (await engine.openSimulator()) ?? new RulesSimulator(),
    prompts: await engine.prompts(),
    sampling: engine.sampling,
    protocol: engine.protocol,
    seed: SEED,
  };
  const collection = collectionName('collection', parts);
  const extent = await choose([...parts.log.collected(collection).keys()]);
  if (extent === undefined) return undefined;
  const { tasks, rollouts } = extent;
  const title = t(
    '{0} plays with {1}',
    engine.calledBy(parts.agent.name),
    engine.calledBy(parts.simulator.name),
  );
  return cancellable(title, async (signal, report) => {
    const result = await collect({
      ...parts,
      tasks: await wholeTasks(packs, tasks),
      grader: await engine.grader(),
      ...{
        rollouts,
        concurrency: playsHere(engine) ? AT_ONCE.here : AT_ONCE.elsewhere,
        mode: engine.gradingMode,
        signal,
      },
      collection,
      onProgress: ({ done, total, already }) => {
        const [now, wanted] = [done - already, total - already];
        report(t('{0} of {1} dialogues', now, wanted), wanted === 0 ? 1 : now / wanted);
      },
    });
    const [failure] = result.failures;
    if (failure !== undefined)
      throw new Fault(
        'editor/collection-failed',
        t('{0} of {1} dialogues failed: {2}', result.failed, result.total, failure.message),
      );
    return { ...result, collection };
  });
}

async function wholeTasks(
  packs: Packs,
  headers: readonly { readonly pack: string; readonly id: string }[],
): Promise<PackTask[]> {
  const tasks = await Promise.all(
    headers.map(async ({ pack, id }) => {
      const task = await packs.task(pack, id);
      return task === undefined ? [] : [{ task, pack: path.basename(pack) }];
    }),
  );
  return tasks.flat();
}
