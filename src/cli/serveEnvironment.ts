import { collectionName, type PackTask } from '../core/dialogue/collect';
import { unrecorded } from '../core/dialogue/parts';
import {
  clientAgent,
  samplingElsewhere,
  type EnvironmentPlan,
  type EpisodeCounts,
} from '../core/environment/episode';
import { EnvironmentServer } from '../core/environment/server';
import { TaskSplits } from '../core/environment/splits';
import { remembering } from '../core/grading/remembered';
import type { TrajectoryLog } from '../core/trajectory/log';
import { untilStopped, wrongUse, type CliContext, type CommandResult, type ServedAt } from './command';
import { openGrader } from './grader';
import { namedKeys } from './keys';
import { openLog } from './log';
import { say } from './output';
import {
  prepareDialogues,
  tasksOf,
  type DialogueOptions,
  type DialogueSetup,
  type PackOptions,
} from './play';
import { usageOf } from './usage';

/** The options of `tandem serve` for an environment. */
export interface EnvironmentOptions extends DialogueOptions, PackOptions {
  readonly capacity: number;
  readonly idleMinutes: number;
  readonly data?: string;
  readonly agentName: string;
}

/** Serves tasks to a trainer until Ctrl+C or SIGTERM. */
export async function serveEnvironment(
  options: EnvironmentOptions & ServedAt,
  to: CliContext,
): Promise<CommandResult> {
  const keyOf = namedKeys(options.keyEnv, [options.simulator]);
  const play = {
    tasks: await tasksOf(options, to),
    ...(await prepareDialogues(options, to, keyOf)),
  };
  const grader = remembering(await openGrader({ assets: to.assets, workers: options.jobs }));
  const log = options.data === undefined ? undefined : await openLog(options.data);
  const agent = clientAgent(options.agentName);
  const { seed, mode, host, port, token, capacity } = options;
  const collection = collectionName('environment', { ...play, seed, agent, sampling: samplingElsewhere });
  const counts = { begun: 0, graded: 0 };
  try {
    await log?.claim(`collection-${collection}`, `The collection ${collection}`);
    const plan: EnvironmentPlan = {
      ...play,
      splits: new TaskSplits(playable(play)),
      seed,
      mode,
      grader,
      agent,
      collection,
      log: log ?? unrecorded,
      rollouts: nextRollouts(log, collection),
      counts,
    };
    const server = await EnvironmentServer.start({
      plan,
      ...{ host, port, token, capacity },
      idleMilliseconds: options.idleMinutes * 60_000,
      onTrouble: say,
    });
    to.onInterrupt('Stopping; open episodes are logged as abandoned. Press Ctrl+C again to leave at once.');
    say(`Serving ${plan.splits.size} tasks at ${server.address}; Ctrl+C ends it.`);
    await untilStopped(to.signal, options.endWithInput);
    await server.close();
    return {
      summary: { collection, data: options.data, ...counts },
      print: () => [inWords(counts), ...usageOf(play.simulator)].join('\n'),
    };
  } finally {
    await log?.close();
    await grader.close();
    await play.simulator.close?.();
  }
}

/** The rule-based simulator knows nothing of a task without facts, which would fail at the first question. */
function playable({
  tasks,
  simulator,
}: DialogueSetup & { readonly tasks: readonly PackTask[] }): readonly PackTask[] {
  if (simulator.kind !== 'rules') return tasks;
  const withFacts = tasks.filter(({ task }) => (task.facts ?? []).length > 0);
  const without = tasks.length - withFacts.length;
  if (withFacts.length === 0) {
    throw wrongUse(
      'None of these tasks has facts, from which the rules answer; name a model with --simulator.',
    );
  }
  if (without > 0)
    say(`${without} tasks are left out, because they have no facts from which the rules answer.`);
  return withFacts;
}

/** Returns the number of the next rollout of each task that the log has in this collection. */
function nextRollouts(log: TrajectoryLog | undefined, collection: string): Map<string, number> {
  const next = new Map<string, number>();
  for (const key of log?.collected(collection).keys() ?? []) {
    const at = key.lastIndexOf('#');
    const task = key.slice(0, at);
    next.set(task, Math.max(next.get(task) ?? 0, Number(key.slice(at + 1)) + 1));
  }
  return next;
}

const inWords = ({ begun, graded }: EpisodeCounts): string =>
  `${begun} episodes were played, and ${graded} of them have an answer with a grade.`;
