import { join } from 'node:path';
import { collect, type CollectionProgress } from '../../src/core/dialogue/collect';
import { Fault } from '../../src/core/fault';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { offlineSeed, trainTasks, type Draw } from './cells';
import type { Surroundings } from './surroundings';

/** Dialogues from which methods learn. */
export interface OfflineData {
  /** The data folder with their log, and the name of their collection in it. */
  readonly log: string;
  readonly collection: string;
  readonly dialogues: number;
  /** Sampled by the agent in these dialogues. */
  readonly tokens: number;
}

export interface OfflineOptions {
  readonly draw: Draw;
  /** Of the collection and its folder. */
  readonly key: string;
  /** Who plays, as on the command line. */
  readonly agent: string;
  /** The drawn tasks of this round, from the first one to the one before `end`. */
  readonly first: number;
  readonly end: number;
  readonly onProgress: (progress: CollectionProgress) => void;
}

/**
 * Plays the drawn tasks, or continues after a stop. Earlier rounds of the same key lie in the same collection and count
 * in the result.
 * @throws {Fault} `study/incomplete-data`
 */
export async function collectOffline(
  { draw, key, agent: player, first, end, onProgress }: OfflineOptions,
  to: Surroundings,
): Promise<OfflineData> {
  const { out, plan, simulator, prompts, grader, signal } = to;
  const { protocol, maxTokens, concurrency } = plan;
  // A log for each seed, because several seeds may collect at once.
  const folder = join(out, 'offline', `seed-${draw.seed}-${key}`);
  const collection = `offline-${key}`;
  const log = await TrajectoryLog.open(folder);
  const agent = to.openAgent(player);
  try {
    const { done, total, failures } = await collect({
      ...{ agent, simulator, prompts, protocol, seed: offlineSeed(draw.seed, plan) },
      ...{ log, grader, concurrency, signal, onProgress, collection, mode: 'fixed' },
      sampling: { temperature: 1, maxTokens },
      tasks: trainTasks(draw, to).slice(first, end),
      rollouts: draw.rollouts,
    });
    if (done < total) {
      const message = `${total - done} of ${total} dialogues of ${player === to.start.name ? 'the start' : player} failed: ${failures[0]?.message ?? ''} The same command tries them again.`;
      throw new Fault('study/incomplete-data', message);
    }
    const dialogues = end * draw.rollouts;
    return { log: folder, collection, dialogues, tokens: await sampledTokens(log, collection) };
  } finally {
    await agent.close?.();
    await log.close();
  }
}

async function sampledTokens(log: TrajectoryLog, collection: string): Promise<number> {
  const episodes = [...log.collected(collection).values()].map(({ episode }) => episode);
  let tokens = 0;
  for await (const { turns } of log.trajectories(episodes)) {
    for (const { agent } of turns) tokens += agent.tokens!.ids!.length; // local models always have them
  }
  return tokens;
}
