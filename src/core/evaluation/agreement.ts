import type { TrajectoryLog } from '../trajectory/log';
import type { Trajectory } from '../trajectory/trajectory';
import { verdictsOf, type Verdict } from '../trajectory/verdicts';
import { wilson, type Interval } from './interval';

/** How often something agreed, of how many times it could. */
export interface Share {
  readonly agreed: number;
  readonly of: number;
  /** Null where there was no time. */
  readonly rate: number | null;
  /** 95 %, Wilson's, every turn counting as independent. */
  readonly interval: Interval;
}

/** How far people and a critic are of one mind. */
export interface Agreement {
  /** Of the turns of which people said whether the critic is right: those in which they said so. */
  readonly verdicts: Share;
  /**
   * Of the turns that people gave a thumb and the critic an advantage other than 0: those in which both point the same
   * way. Thumbs are mostly given before anybody sees the critic, so they are not swayed by it.
   */
  readonly thumbs: Share;
}

/** A turn's advantage under the critic: by episode, then by turn from 1. */
export type Advantages = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** What people said of the turns of one dialogue. */
interface Said {
  readonly verdicts: readonly Verdict[];
  readonly thumbs: readonly { readonly turn: number; readonly isUp: boolean }[];
}

/** What people said of the turns in a log. Each episode is read once, and again when it was said to have changed. */
export class SaidOfTurns {
  private readonly known = new Map<string, Said>();

  /** These episodes have changed; when none is named, any may have. */
  forget(episodes: readonly string[]): void {
    if (episodes.length === 0) this.known.clear();
    for (const episode of episodes) this.known.delete(episode);
  }

  /** Of these dialogues and of all with verdicts, as far as the log shows them. */
  async of(log: TrajectoryLog, episodes: Iterable<string>): Promise<ReadonlyMap<string, Said>> {
    const { rows } = log.list({ filter: { judged: true }, offset: 0, limit: Number.POSITIVE_INFINITY });
    const others = [...episodes].filter((id) => log.summary(id) !== undefined);
    const ids = [...new Set([...rows.map(({ id }) => id), ...others])];
    for await (const trajectory of log.trajectories(ids.filter((id) => !this.known.has(id)))) {
      this.known.set(trajectory.id, saidIn(trajectory));
    }
    return new Map(ids.flatMap((id) => (this.known.has(id) ? [[id, this.known.get(id)!]] : [])));
  }
}

function saidIn(trajectory: Trajectory): Said {
  const thumbs = trajectory.turns.flatMap(({ agent, rating }) =>
    rating?.thumb === undefined ? [] : [{ turn: agent.turn, isUp: rating.thumb === 'up' }],
  );
  return { verdicts: verdictsOf(trajectory), thumbs };
}

/**
 * The agreement of people with one critic, over the dialogues that the log shows.
 * @param critic its identity
 * @param advantages what the critic said of dialogues; thumbs of others do not count
 * @param kept what was read before, for who asks again and again
 */
export async function agreementWith(
  log: TrajectoryLog,
  critic: string,
  advantages: Advantages,
  kept = new SaidOfTurns(),
): Promise<Agreement> {
  const said = [...(await kept.of(log, advantages.keys()))];
  const verdicts = said.flatMap(([, of]) => of.verdicts.filter((verdict) => verdict.critic === critic));
  const thumbs = said.flatMap(([id, of]) =>
    of.thumbs.flatMap(({ turn, isUp }) => {
      const advantage = advantages.get(id)?.get(turn) ?? 0;
      return advantage === 0 ? [] : [isUp === advantage > 0];
    }),
  );
  return { verdicts: shareOf(verdicts.map(({ agrees }) => agrees)), thumbs: shareOf(thumbs) };
}

function shareOf(answers: readonly boolean[]): Share {
  const agreed = answers.filter((answer) => answer).length;
  const rate = answers.length === 0 ? null : agreed / answers.length;
  return { agreed, of: answers.length, rate, interval: wilson(rate ?? 0, answers.length) };
}
