import { Dialogue } from '../dialogue/dialogue';
import type { DialogueParts } from '../dialogue/parts';
import { unrecorded } from '../dialogue/record';
import { deriveSeed } from '../dialogue/seed';
import type { Simulator } from '../dialogue/simulator';
import type { Grade, GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import { Fault } from '../fault';
import type { Task } from '../task/task';
import type { EventOf } from '../trajectory/event';
import type { Trajectory, Turn } from '../trajectory/trajectory';

/** The history before one agent turn, and several turns that the agent might take there. */
export interface CreditState {
  /** Names it among others; part of the seeds. */
  readonly id: string;
  /** The dialogue that it is from. */
  readonly trajectory: Trajectory;
  /** The turns before: all of them have replies. */
  readonly history: readonly Turn[];
  readonly candidates: readonly EventOf<'agent-turn'>[];
}

/** What a turn is worth: how the dialogue ends when the agent goes on from there as it is. */
export interface CandidateValue {
  /** Fraction of the rolls that succeeded, and their mean fraction of tests passed. */
  readonly success: number;
  readonly reward: number;
  /** Of `success`. 0 for an answer, which ends the dialogue. */
  readonly standardError: number;
  readonly rolls: number;
}

export interface CreditPlan extends Omit<DialogueParts, 'log'> {
  readonly simulator: Simulator;
  readonly grader: Grader;
  readonly mode: GradingMode;
  readonly seed: number;
  /** A candidate is rolled until the standard error of its success is no larger, or `mostRolls` were made. */
  readonly standardError: number;
  readonly mostRolls: number;
  readonly signal?: AbortSignal;
  readonly onRolls?: (count: number) => void;
}

/**
 * Monte-Carlo credit (VinePPO, arXiv 2410.01679): plays each candidate on to the end many times, agent and simulator
 * as in the collection, and grades. No critic has a part in it, so it is what scores of turns are judged by. Rolls have
 * seeds of their own: neither a candidate beside it nor the order of the work changes a value.
 *
 * @throws what a dialogue or the grader throws; {Fault} `evaluation/not-gradable` when an answer cannot be graded here
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

/** How many rolls are needed for the standard error, as far as those made tell; never less than those made. */
const rollsFor = (ends: readonly End[], standardError: number): number =>
  Math.max(Math.ceil(spread(ends) / standardError ** 2 - 1e-9), ends.length);

/**
 * The variance of one roll's success. Two rolls are added, one of each kind (Agresti and Coull 1998), because "0 of 12"
 * does not say that it never succeeds.
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
  /** The candidate itself ended the dialogue: every roll would be the same. */
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

/** Most rolls of a state end in one of a few answers. */
function gradeOf(
  { task, answer = '' }: Dialogue,
  { grader, mode, signal }: CreditPlan,
  grades: Map<string, Promise<Grade>>,
): Promise<Grade> {
  const known = grades.get(answer);
  if (known !== undefined) return known;
  const grade = grader.grade(task, answer, { mode, signal });
  grades.set(answer, grade);
  return grade;
}

function notGradable(task: Task, { notGradable: why }: Grade): Fault {
  const message = `An answer to the task ${task.id} cannot be graded here: ${why ?? 'no reason was given.'} Leave such tasks out.`;
  return new Fault('evaluation/not-gradable', message);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
