import { Dialogue } from '../../src/core/dialogue/dialogue';
import type { DialogueParts } from '../../src/core/dialogue/dialogueParts';
import { unrecorded } from '../../src/core/dialogue/dialogueParts';
import { deriveSeed } from '../../src/core/dialogue/seed';
import type { Simulator } from '../../src/core/dialogue/simulator';
import type { Grade, GradingMode } from '../../src/core/grading/grade';
import type { Grader } from '../../src/core/grading/grader';
import { Fault } from '../../src/core/fault';
import { programOf, type Task } from '../../src/core/task/task';
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

export interface CreditPlan extends Omit<DialogueParts, 'log'> {
  readonly simulator: Simulator;
  readonly grader: Grader;
  readonly mode: GradingMode;
  readonly seed: number;
  /**
   * A candidate is rolled out until the standard error of its success is at most this, or `mostRolls` rolls were made.
   */
  readonly standardError: number;
  readonly mostRolls: number;
  readonly signal?: AbortSignal;
  readonly onRolls?: (count: number) => void;
}

/**
 * Computes Monte-Carlo credit (VinePPO, arXiv 2410.01679): plays each candidate to the end many times, with the agent
 * and the simulator of the collection, and grades the answers. No critic takes part, so that critics' scores can be
 * judged by it. Every roll has a seed of its own: neither other candidates nor the order of the work changes a value.
 *
 * @throws what a dialogue or the grader throws; {Fault} `study/not-gradable` when an answer cannot be graded here
 */
export async function monteCarloCredit(state: CreditState, plan: CreditPlan): Promise<CandidateValue[]> {
  const grades = new Map<string, Promise<Grade>>();
  const values = state.candidates.map((_, candidate) => valueOf(state, candidate, plan, grades));
  return Promise.all(values);
}

async function valueOf(
  state: CreditState,
  candidate: number,
  plan: CreditPlan,
  grades: Map<string, Promise<Grade>>,
): Promise<CandidateValue> {
  const ends: End[] = [];
  for (let wanted = FIRST_ROLLS; ends.length < wanted;) {
    const rolls = Array.from({ length: wanted - ends.length }, (_, i) =>
      roll(state, candidate, ends.length + i, plan, grades),
    );
    ends.push(...(await Promise.all(rolls)));
    plan.onRolls?.(rolls.length);
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

interface End {
  readonly success: boolean;
  readonly reward: number;
  /** True when the candidate itself ended the dialogue, so that every roll would be the same. */
  readonly certain: boolean;
}

async function roll(
  state: CreditState,
  candidate: number,
  number: number,
  plan: CreditPlan,
  grades: Map<string, Promise<Grade>>,
): Promise<End> {
  const { trajectory, history } = state;
  const { signal } = plan;
  const dialogue = await Dialogue.resume(
    {
      ...trajectory,
      state: 'open',
      started: {
        ...trajectory.started,
        seed: deriveSeed(plan.seed, state.id, state.candidates[candidate]!.text, number),
      },
      turns: [...history, { agent: state.candidates[candidate]! }],
      answer: undefined,
    },
    { ...plan, log: unrecorded },
  );
  const certain = dialogue.next === 'nobody';
  await dialogue.play({ signal });
  const grade = await gradeOf(dialogue, plan, grades);
  if (grade.success === null || grade.reward === null) throw notGradable(trajectory.task, grade);
  return { success: grade.success, reward: grade.reward, certain };
}

/** Grades an answer once, because most rolls of a state end in one of a few answers. */
function gradeOf(
  { task, answer = '' }: Dialogue,
  { grader, mode, signal }: CreditPlan,
  grades: Map<string, Promise<Grade>>,
): Promise<Grade> {
  const known = grades.get(answer);
  if (known !== undefined) return known;
  const grade = grader.grade(programOf(task), answer, { mode, signal });
  grades.set(answer, grade);
  return grade;
}

function notGradable(task: Task, { notGradable: why }: Grade): Fault {
  const message = `An answer to the task ${task.id} cannot be graded here: ${why ?? 'no reason was given.'} Leave such tasks out.`;
  return new Fault('study/not-gradable', message);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
