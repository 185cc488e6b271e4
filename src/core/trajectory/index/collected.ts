import type { TrajectoryState } from '../trajectory';
import type { Episodes } from './episodes';
import { matching } from './query';

/** One rollout of a collection, as far as the log has it. */
export interface CollectedRollout {
  readonly episode: string;
  readonly state: TrajectoryState;
  /** It has a grade in some mode. */
  readonly graded: boolean;
  /** The modes in which it has a grade; what cannot be graded here has one too. */
  readonly gradedModes: readonly ('fixed' | 'paper')[];
  /** Lines of it are missing from the log: only reading it whole tells what is left. */
  readonly damaged: boolean;
}

const MODES = ['fixed', 'paper'] as const;

/**
 * The rollouts of a collection by `<task id>#<rollout>`. When one was begun more than once, an answered one stands
 * before the others, then the newest.
 */
export function collectedRollouts(
  episodes: Episodes,
  order: Uint32Array,
  collection: string,
): Map<string, CollectedRollout> {
  const collected = new Map<string, CollectedRollout>();
  for (const row of matching(episodes, order, { collection })) {
    const { task, rollout } = episodes.columns;
    const key = `${episodes.strings.text(task.get(row))}#${Math.max(0, rollout.get(row))}`;
    const state = episodes.state(row);
    if (collected.get(key)?.state === 'answered' && state !== 'answered') continue;
    const gradedModes = MODES.filter((mode) => episodes.grade(row, mode) !== undefined);
    const graded = gradedModes.length > 0;
    const damaged = episodes.isDamaged(row);
    collected.set(key, { episode: episodes.ids[row]!, state, graded, gradedModes, damaged });
  }
  return collected;
}
