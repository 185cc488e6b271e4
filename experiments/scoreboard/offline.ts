import { join } from 'node:path';
import { collect, collectionName, type CollectionProgress } from '../../src/core/dialogue/collect';
import { Fault } from '../../src/core/fault';
import type { Model } from '../../src/core/model/model';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { contentOf, digestOf, type Surroundings } from './surroundings';

/** Dialogues of the start model from which every method learns. */
export interface OfflineData {
  /** The data folder with their log, and the name of their collection in it. */
  readonly log: string;
  readonly collection: string;
  /** Digest of their content, independent of the folder. */
  readonly digest: string;
}

/** Plays the train split with the start model, or continues after a stop. */
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
    // The name includes tasks and counts, because filters of the log cannot select a part of a collection.
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
      throw new Fault('study/incomplete-data', message);
    }
    return { log: join(out, 'offline'), collection: name, digest: digestOf(start.fingerprint, name) };
  } finally {
    await log.close();
  }
}
