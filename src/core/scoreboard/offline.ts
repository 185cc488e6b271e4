import { join } from 'node:path';
import { collect, collectionName, type CollectionProgress } from '../dialogue/collect';
import { Fault } from '../fault';
import type { Model } from '../model/model';
import { TrajectoryLog } from '../trajectory/log';
import { contentOf, digestOf, type Surroundings } from './surroundings';

/** The dialogues of the start that every method learns from. */
export interface OfflineData {
  /** The data folder of their log, and their collection in it. */
  readonly log: string;
  readonly collection: string;
  /** What they are, beside where they are. */
  readonly digest: string;
}

/** Plays the train split with the start, or goes on where that stopped. */
export async function offlineData(
  start: Model,
  { out, plan, tasks, simulator, prompts, grader, signal }: Surroundings,
  onProgress: (progress: CollectionProgress) => void,
): Promise<OfflineData> {
  const { offline, difficulty, protocol, maxTokens, concurrency } = plan;
  const log = await TrajectoryLog.open(join(out, 'offline'));
  try {
    const settings = {
      ...{ agent: start, simulator, prompts, protocol, seed: offline.seed },
      sampling: { temperature: 1, maxTokens },
    };
    const drawn = tasks({ split: 'train', count: offline.tasks, seed: offline.seed });
    // Other tasks, or another number of them, are another collection: filters of the log know nothing smaller.
    const name = `${collectionName('collection', settings)}-${offline.tasks}x${offline.rollouts}-${difficulty}-${contentOf(drawn)}`;
    const { done, total, failures } = await collect({
      ...settings,
      ...{ log, grader, concurrency, signal, onProgress },
      tasks: drawn,
      rollouts: offline.rollouts,
      mode: 'fixed',
      collection: name,
    });
    if (done < total) {
      const message = `${total - done} of ${total} dialogues of the start failed: ${failures[0]?.message ?? ''} The same command tries them again.`;
      throw new Fault('scoreboard/incomplete-data', message);
    }
    return { log: join(out, 'offline'), collection: name, digest: digestOf(start.fingerprint, name) };
  } finally {
    await log.close();
  }
}
