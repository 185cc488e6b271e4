import type { TrajectoryLog } from '../trajectory/log';
import type { Trajectory } from '../trajectory/trajectory';

/** Each episode of the log is read once, and again after `forget`. */
export abstract class EpisodeCache<T> {
  private readonly known = new Map<string, T>();

  protected abstract read(trajectory: Trajectory): T;

  /** An empty list means that any episode may have changed. */
  forget(episodes: readonly string[]): void {
    if (episodes.length === 0) this.known.clear();
    for (const episode of episodes) this.known.delete(episode);
  }

  /** In the given order, without episodes that the log does not show. */
  protected async readAll(log: TrajectoryLog, ids: readonly string[]): Promise<Map<string, T>> {
    for await (const trajectory of log.trajectories(ids.filter((id) => !this.known.has(id)))) {
      this.known.set(trajectory.id, this.read(trajectory));
    }
    return new Map(ids.flatMap((id) => (this.known.has(id) ? [[id, this.known.get(id)!]] : [])));
  }
}
