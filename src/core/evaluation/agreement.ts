import type { Advantages } from '../training/credit/credit';
import type { TrajectoryLog } from '../trajectory/log';
import type { Trajectory } from '../trajectory/trajectory';
import { verdictsOf, type Verdict } from '../trajectory/opinions';
import { EpisodeCache } from './episodeCache';
import { wilson, type Interval, average, meanInterval } from './interval';
import type { Scored } from '../training/convert';

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

/**
 * How well credits order the turns of a dialogue about a page, by Spearman's rank correlation with the measured gain of
 * each turn's draft. The mean over dialogues in which both vary.
 */
export interface GainCorrelation {
  readonly dialogues: number;
  readonly mean: number;
  /** 95 %, over dialogues; undefined for one. */
  readonly interval: Interval | undefined;
}

/** Undefined without a dialogue in which both credits and gains vary. */
export function gainCorrelation(
  rows: readonly Pick<Scored, 'turns'>[],
  credit: 'advantage' | 'untrained',
): GainCorrelation | undefined {
  const values = rows.flatMap(({ turns }) => {
    const known = turns.flatMap(({ [credit]: value, gain }) =>
      value === null || gain === undefined ? [] : [{ value, gain }],
    );
    const correlation = spearman(
      known.map(({ value }) => value),
      known.map(({ gain }) => gain),
    );
    return correlation === undefined ? [] : [correlation];
  });
  if (values.length === 0) return undefined;
  return { dialogues: values.length, mean: average(values), interval: meanInterval(values) };
}

/** Spearman's ρ; ties share their mean rank. Undefined when one side is constant. */
export function spearman(left: readonly number[], right: readonly number[]): number | undefined {
  const [a, b] = [ranks(left), ranks(right)];
  const middle = (left.length + 1) / 2;
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, rank, index) => sum + (rank - middle) * (y[index]! - middle), 0);
  const spread = product(a, a) * product(b, b);
  return spread > 0 ? product(a, b) / Math.sqrt(spread) : undefined;
}

const ranks = (values: readonly number[]): number[] =>
  values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal + 1) / 2;
  });
