import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../../core/fault';
import type { PackTask } from '../../../core/dialogue/collect';
import type { Engine } from '../../engine';
import { cancellable } from '../../progress';
import type { Packs } from '../../tasks/packs';
import { refuseInRestrictedMode } from '../../trust/restricted';

const { t } = vscode.l10n;

/** Enough for a first run: tasks, and dialogues of each, of which some succeed and some do not. */
const TASKS = 24;
const ROLLOUTS = 4;
const CONCURRENCY = 4;
const SEED = 0;

/**
 * Has the agent of the settings play tasks with the simulator of the settings, as `tandem collect` does, with progress
 * and cancel; what was played until then stays in the log.
 * @throws {Fault} `editor/no-tasks`, and as `collect`
 */
export async function collectHere(engine: Engine, packs: Packs): Promise<void> {
  refuseInRestrictedMode(t('Nothing is played'));
  const tasks = await firstTasks(packs);
  if (tasks.length === 0)
    throw new Fault('editor/no-tasks', t('There is no task to play: add a pack in the Tasks view first.'));
  const { collect, collectionName } = await import('../../../core/dialogue/collect');
  const { RulesSimulator } = await import('../../../core/dialogue/simulator');
  const parts = {
    log: await engine.log(),
    agent: await engine.openAgent(),
    simulator: (await engine.openSimulator()) ?? new RulesSimulator(),
    prompts: await engine.prompts(),
    sampling: engine.sampling,
    protocol: engine.protocol,
    seed: SEED,
  };
  const title = t('{0} plays with {1}', parts.agent.name, parts.simulator.name);
  await cancellable(title, async (signal, report) => {
    const result = await collect({
      ...parts,
      tasks,
      grader: await engine.grader(),
      ...{ rollouts: ROLLOUTS, concurrency: CONCURRENCY, mode: engine.gradingMode, signal },
      collection: collectionName('collection', parts),
      onProgress: ({ done, total }) => report(t('{0} of {1} dialogues', done, total), done / total),
    });
    const [failure] = result.failures;
    if (failure !== undefined)
      throw new Fault(
        'editor/collection-failed',
        t('{0} of {1} dialogues failed: {2}', result.failed, result.total, failure.message),
      );
  });
}

async function firstTasks(packs: Packs): Promise<PackTask[]> {
  const first = (await packs.all()).flatMap((pack) => pack.tasks).slice(0, TASKS);
  const tasks = await Promise.all(
    first.map(async ({ pack, id }) => {
      const task = await packs.task(pack, id);
      return task === undefined ? [] : [{ task, pack: path.basename(pack) }];
    }),
  );
  return tasks.flat();
}
