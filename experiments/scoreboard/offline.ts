import { join } from 'node:path';
import { collect, type CollectionProgress } from '../../src/core/dialogue/collect';
import { Fault } from '../../src/core/fault';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { offlineKey, offlineSeed, trainTasks, type Draw } from './cells';
import type { Surroundings } from './surroundings';

/** Dialogues of the start model from which methods learn. */
export interface OfflineData {
  /** The data folder with their log, and the name of their collection in it. */
  readonly log: string;
  readonly collection: string;
  readonly dialogues: number;
  /** Sampled by the agent in these dialogues. */
  readonly tokens: number;
}

/**
 * Plays the drawn tasks with the start model, or continues after a stop.
 * @throws {Fault} `study/incomplete-data`
 */
export async function collectOffline(
  draw: Draw,
  to: Surroundings,
  onProgress: (progress: CollectionProgress) => void,
): Promise<OfflineData> {
  const { out, plan, simulator, prompts, grader, signal } = to;
  const { protocol, maxTokens, concurrency } = plan;
  const key = offlineKey(draw, to);
  // A log for each seed, because several seeds may collect at once.
  const folder = join(out, 'offline', `seed-${draw.seed}-${key}`);
  const collection = `offline-${key}`;
  const log = await TrajectoryLog.open(folder);
  const agent = to.openAgent(to.start.name);
  try {
    const { done, total, failures } = await collect({
      ...{ agent, simulator, prompts, protocol, seed: offlineSeed(draw.seed, plan) },
      ...{ log, grader, concurrency, signal, onProgress, collection, mode: 'fixed' },
      sampling: { temperature: 1, maxTokens },
      tasks: trainTasks(draw, to),
      rollouts: draw.rollouts,
    });
    if (done < total) {
      const message = `${total - done} of ${total} dialogues of the start failed: ${failures[0]?.message ?? ''} The same command tries them again.`;
      throw new Fault('study/incomplete-data', message);
    }
    return { log: folder, collection, dialogues: total, tokens: await sampledTokens(log, collection) };
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
