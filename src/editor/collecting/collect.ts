import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { CollectionResult, PackTask } from '../../core/dialogue/collect';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import type { ListedTask as TaskHeader } from '../tasks/pack';
import type { Packs } from '../tasks/packs';
import { refuseInRestrictedMode } from '../restricted';
import type { Extent } from './extent';

const { t } = vscode.l10n;

/** Dialogues in flight at once: a model on this machine writes many in a batch, a server may refuse so many. */
const AT_ONCE = { here: 16, elsewhere: 4 };
const SEED = 0;

/** The result of a collection so far, with the collection's name. */
export interface CollectionSoFar extends CollectionResult {
  readonly collection: string;
}

/** Returns whether the agent runs on this machine, where a dialogue costs little. */
export const playsHere = ({ localPlaces, agentName }: Engine, agent = agentName): boolean =>
  localPlaces.some(({ spec }) => spec === agent);

/** Opens who plays, and how, with the settings of a folder; agent and simulator may be others. */
export async function playersOf(
  engine: Engine,
  { agent = engine.agentName, simulator }: { readonly agent?: string; readonly simulator?: string } = {},
) {
  const { RulesSimulator } = await import('../../core/dialogue/simulator');
  return {
    log: await engine.log(),
    agent: await engine.openAgent(agent),
    simulator: (await engine.openSimulator(simulator)) ?? new RulesSimulator(),
    prompts: await engine.prompts(),
    sampling: engine.samplingOf(agent),
    protocol: engine.protocol,
    seed: SEED,
    concurrency: playsHere(engine, agent) ? AT_ONCE.here : AT_ONCE.elsewhere,
    mode: engine.gradingMode,
  };
}

/**
 * Has the agent of the settings play tasks with the simulator of the settings, as `tandem collect` does, with progress
 * and a cancel button. What was played before a cancellation stays in the log.
 * @param all the tasks that may be played
 * @param choose returns the tasks and the dialogues of each, given what these two have played already as `id#rollout`;
 *   undefined plays nothing
 * @returns undefined when nothing was chosen or the person cancelled
 * @throws {Fault} `editor/no-tasks`, `editor/collection-failed`, and as `collect`
 */
export async function collectHere(
  engine: Engine,
  packs: Packs,
  all: readonly TaskHeader[],
  choose: (played: readonly string[]) => Extent<TaskHeader> | PromiseLike<Extent<TaskHeader> | undefined>,
): Promise<CollectionSoFar | undefined> {
  refuseInRestrictedMode(t('Nothing is played'));
  if (all.length === 0)
    throw new Fault('editor/no-tasks', t('There is no task to play: add a pack in the Tasks view first.'));
  const { collect, collectionName } = await import('../../core/dialogue/collect');
  const parts = await playersOf(engine);
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
      ...{ rollouts, signal },
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
