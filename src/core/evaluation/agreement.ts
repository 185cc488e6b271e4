import type { Advantages } from '../training/credit/credit';
import type { TrajectoryLog } from '../trajectory/log';
import type { Trajectory } from '../trajectory/trajectory';
import { verdictsOf, type Verdict } from '../trajectory/opinions';
import { EpisodeCache } from './episodeCache';
import { wilson, type Interval } from './interval';

export interface Share {
  readonly agreed: number;
  readonly of: number;
  /** Null when there was no case. */
  readonly rate: number | null;
  /** 95 % Wilson interval; every turn counts as independent. */
  readonly interval: Interval;
}

export interface Agreement {
  /** People's verdicts on the critic that say it is right. */
  readonly verdicts: Share;
  /**
   * Turns with both a thumb and an advantage other than 0 in which the two point the same way. Thumbs are mostly given
   * before the critic is seen, so it does not bias them.
   */
  readonly thumbs: Share;
}

interface Said {
  readonly verdicts: readonly Verdict[];
  readonly thumbs: readonly { readonly turn: number; readonly isUp: boolean }[];
}

export class TurnJudgements extends EpisodeCache<Said> {
  protected override read = saidIn;

  /** Covers these dialogues and all with verdicts, as far as the log shows them. */
  async of(log: TrajectoryLog, episodes: Iterable<string>): Promise<ReadonlyMap<string, Said>> {
    const { rows } = log.list({ filter: { judged: true }, offset: 0, limit: Number.POSITIVE_INFINITY });
    const others = [...episodes].filter((id) => log.summary(id) !== undefined);
    return this.readAll(log, [...new Set([...rows.map(({ id }) => id), ...others])]);
  }
}

function saidIn(trajectory: Trajectory): Said {
  const thumbs = trajectory.turns.flatMap(({ agent, rating }) =>
    rating?.thumb === undefined ? [] : [{ turn: agent.turn, isUp: rating.thumb === 'up' }],
  );
  return { verdicts: verdictsOf(trajectory), thumbs };
}

/**
 * Covers the dialogues that the log shows.
 * @param critic the critic's identity
 * @param advantages thumbs on other dialogues do not count
 * @param kept judgements read before, for repeated calls
 */
export async function agreementWith(
  log: TrajectoryLog,
  critic: string,
  advantages: Advantages,
  kept = new TurnJudgements(),
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
