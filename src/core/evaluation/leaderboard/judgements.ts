import { choicesOf, isOver, type Trajectory } from '../../trajectory/trajectory';
import type { TrajectoryLog } from '../../trajectory/log';
import { EpisodeCache } from '../episodeCache';
import type { Judgement } from './leaderboard';

export class Judgements extends EpisodeCache<readonly Judgement[]> {
  protected override read(trajectory: Trajectory): Judgement[] {
    return choicesOf(trajectory).map(({ shown, choice }) => {
      const [first, second] = shown.candidates;
      return { agents: [first.agent, second.agent], picked: choice.picked };
    });
  }

  /**
   * Only of dialogues that are over or were skipped, the oldest first. From dialogues in play, a person could see who
   * wrote the chosen candidate.
   */
  async of(log: TrajectoryLog): Promise<Judgement[]> {
    const everything = { sort: 'oldest', offset: 0, limit: Number.POSITIVE_INFINITY } as const;
    const { rows } = log.list({ filter: { chosen: true }, ...everything });
    const over = rows.filter(({ state, abandoned }) => isOver(state, abandoned));
    const read = await this.readAll(
      log,
      over.map(({ id }) => id),
    );
    return [...read.values()].flat();
  }
}
