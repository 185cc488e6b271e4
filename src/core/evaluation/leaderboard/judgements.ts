import { choicesOf, isOver } from '../../trajectory/trajectory';
import type { TrajectoryLog } from '../../trajectory/log';
import type { Judgement } from './leaderboard';

/** Each episode is read once, and again after `forget`. */
export class Judgements {
  private readonly known = new Map<string, readonly Judgement[]>();

  /** An empty list means that any episode may have changed. */
  forget(episodes: readonly string[]): void {
    if (episodes.length === 0) this.known.clear();
    for (const episode of episodes) this.known.delete(episode);
  }

  /**
   * Only of dialogues that are over or were skipped, the oldest first. From dialogues in play, a person could see who
   * wrote the chosen candidate.
   */
  async of(log: TrajectoryLog): Promise<Judgement[]> {
    const everything = { sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
    const { rows } = log.list({ filter: { chosen: true }, ...everything });
    const over = rows.filter(({ state, abandoned }) => isOver(state, abandoned));
    const ids = over.map(({ id }) => id);
    for await (const trajectory of log.trajectories(ids.filter((id) => !this.known.has(id)))) {
      const judgements = choicesOf(trajectory).map(({ shown, choice }): Judgement => {
        const [first, second] = shown.candidates;
        return { agents: [first.agent, second.agent], picked: choice.picked };
      });
      this.known.set(trajectory.id, judgements);
    }
    return ids.flatMap((id) => this.known.get(id) ?? []);
  }
}
