import { deriveSeed } from '../../src/core/seed';
import { AnswerScores } from '../../src/core/training/credit/playedCredit';
import { mean, roll, type End, type RolloutPlan } from '../../src/core/training/credit/rollouts';
import type { EventOf } from '../../src/core/trajectory/event';
import type { Trajectory, Turn } from '../../src/core/trajectory/trajectory';

/** The history before one agent turn, and several candidates for that turn. */
export interface CreditState {
  /** Unique among states; part of the seeds. */
  readonly id: string;
  /** The dialogue from which the state is taken. */
  readonly trajectory: Trajectory;
  /** The turns before this one, all with replies. */
  readonly history: readonly Turn[];
  readonly candidates: readonly EventOf<'agent-turn'>[];
}

/** Value of a turn: the results of dialogues that the unchanged agent plays on from it. */
export interface CandidateValue {
  /** Fraction of rolls that succeeded, and their mean reward (fraction of tests passed). */
  readonly success: number;
  readonly reward: number;
  /** Standard error of `success`; 0 for an answer, which ends the dialogue. */
  readonly standardError: number;
  readonly rolls: number;
}

export interface CreditPlan extends RolloutPlan {
  /**
   * A candidate is rolled out until the standard error of its success is at most this, or `mostRolls` rolls were made.
   */
  readonly standardError: number;
  readonly mostRolls: number;
}

/**
 * Computes Monte-Carlo credit (VinePPO, arXiv 2410.01679): plays each candidate to the end many times, with the agent
 * and the simulator of the collection, and grades the answers. No critic takes part, so that critics' scores can be
 * judged by it. Every roll has a seed of its own: neither other candidates nor the order of the work changes a value.
 *
 * @throws what a dialogue or the grader throws; {Fault} `training/cannot-score` when an answer cannot be graded here
 */
export async function monteCarloCredit(state: CreditState, plan: CreditPlan): Promise<CandidateValue[]> {
  const scores = new AnswerScores(plan);
  const values = state.candidates.map((_, candidate) => valueOf(state, candidate, plan, scores));
  return Promise.all(values);
}

async function valueOf(
  state: CreditState,
  candidate: number,
  plan: CreditPlan,
  scores: AnswerScores,
): Promise<CandidateValue> {
  const { trajectory, history } = state;
  const agent = state.candidates[candidate]!;
  const start = {
    task: trajectory.task,
    protocol: trajectory.started.protocol,
    turns: [...history, { agent }],
  };
  const ends: End[] = [];
  for (let wanted = FIRST_ROLLS; ends.length < wanted;) {
    const rolls = Array.from({ length: wanted - ends.length }, (_, i) =>
      roll(start, deriveSeed(plan.seed, state.id, agent.text, ends.length + i), plan, scores),
    );
    ends.push(...(await Promise.all(rolls)));
    if (ends[0]!.certain) return { ...meansOf(ends.slice(0, 1)), standardError: 0, rolls: 1 };
    wanted = Math.min(plan.mostRolls, rollsFor(ends, plan.standardError));
  }
  return { ...meansOf(ends), standardError: Math.sqrt(spread(ends) / ends.length), rolls: ends.length };
}

const FIRST_ROLLS = 12;

/** Returns the estimated number of rolls for the wanted standard error; never fewer than were made. */
const rollsFor = (ends: readonly End[], standardError: number): number =>
  Math.max(Math.ceil(spread(ends) / standardError ** 2 - 1e-9), ends.length);

/**
 * Returns the variance of one roll's success. One success and one failure are added (Agresti and Coull 1998), because
 * "0 of 12" does not mean that it never succeeds.
 */
function spread(ends: readonly End[]): number {
  const rate = (ends.filter(({ success }) => success).length + 1) / (ends.length + 2);
  return rate * (1 - rate);
}

const meansOf = (ends: readonly End[]): Pick<CandidateValue, 'success' | 'reward'> => ({
  success: mean(ends.map(({ success }) => Number(success))),
  reward: mean(ends.map(({ reward }) => reward)),
});
