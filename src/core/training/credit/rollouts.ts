import { Dialogue } from '../../dialogue/dialogue';
import { type DialogueParts, unrecorded } from '../../dialogue/dialogueParts';
import type { Protocol } from '../../dialogue/protocol';
import { deriveSeed } from '../../seed';
import type { Simulator } from '../../dialogue/simulator';
import { Gate } from '../../grading/gate';
import type { Task } from '../../task/task';
import { LOG_VERSION, type EventOf } from '../../trajectory/event';
import type { Trajectory, Turn } from '../../trajectory/trajectory';
import { AnswerScores } from './answerScores';
import {
  identityOf,
  turnsOf,
  type CandidateWorth,
  type HistoryValue,
  type Position,
  type ValuePlan,
} from './playedCredit';

interface RolloutPlan extends Omit<ValuePlan, 'samples' | 'concurrency'> {
  readonly simulator: Simulator;
}

/**
 * Monte-Carlo values (VinePPO, arXiv 2410.01679): V(h) is the mean reward of dialogues that the agent and the simulator
 * play to the end from h. Every roll has a seed of its own, so that neither other histories nor the order of the work
 * changes a value. Where a person was the collaborator, the simulator stands in.
 */
export class Rollouts implements HistoryValue {
  readonly kind = 'rollouts';
  private readonly scores: AnswerScores;
  private readonly gate: Gate;
  private readonly values = new Map<string, Promise<CandidateWorth>>();

  constructor(private readonly plan: RolloutPlan & Pick<ValuePlan, 'samples' | 'concurrency'>) {
    this.scores = new AnswerScores(plan);
    this.gate = new Gate(plan.concurrency, 1);
  }

  get id(): string {
    return identityOf('rollouts', this.plan);
  }

  async value({ history, ...position }: Position): Promise<number> {
    return (await this.after(position, history)).value;
  }

  candidate({ history, ...position }: Position, message: string): Promise<CandidateWorth> {
    return this.after(position, [...history, { agent: message }]);
  }

  async reward(task: Task, answer: string): Promise<number> {
    return (await this.scores.of(task, answer)).reward;
  }

  private after(
    position: Omit<Position, 'history'>,
    exchanges: Position['history'],
  ): Promise<CandidateWorth> {
    const key = JSON.stringify([position.task.id, exchanges]);
    const worth = this.values.get(key) ?? this.rolled({ ...position, turns: turnsOf(exchanges) }, key);
    this.values.set(key, worth);
    return worth;
  }

  private async rolled(start: RolloutStart, key: string): Promise<CandidateWorth> {
    const { plan, scores } = this;
    const rolls = Array.from({ length: plan.samples }, (_, number) =>
      this.gate.together(() => roll(start, deriveSeed(plan.seed, 'rollout', key, number), plan, scores)),
    );
    const ends = await Promise.all(rolls);
    return { value: mean(ends.map(({ reward }) => reward)), ended: ends[0]!.certain };
  }
}

/** A dialogue that is taken up after these turns, of which the last may lack its reply. */
interface RolloutStart {
  readonly task: Task;
  readonly protocol: Protocol;
  readonly turns: readonly Turn[];
}

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
  readonly onRolls?: (count: number) => void;
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
  readonly success: boolean | null;
  readonly reward: number;
  /** True when the candidate itself ended the dialogue, so that every roll would be the same. */
  readonly certain: boolean;
}

async function roll(
  start: RolloutStart,
  seed: number,
  plan: RolloutPlan,
  scores: AnswerScores,
): Promise<End> {
  const { signal } = plan;
  const dialogue = await dialogueAfter(start, seed, plan);
  const certain = dialogue.next === 'nobody';
  await dialogue.play({ signal });
  return { ...(await scores.of(start.task, dialogue.answer ?? '')), certain };
}

/** Takes up a dialogue after its turns. No log records it. */
export async function dialogueAfter(
  { task, protocol, turns }: RolloutStart,
  seed: number,
  parts: Omit<DialogueParts, 'log' | 'simulator'> & { readonly simulator: Simulator },
): Promise<Dialogue> {
  const { agent, simulator } = parts;
  const collaborator = { kind: simulator.kind, name: simulator.name };
  const trajectory: Trajectory = {
    ...{ id: '', task, agent: agent.name, collaborator, state: 'open', turns, handOvers: [], grades: [] },
    started: {
      ...{ version: LOG_VERSION, at: new Date().toISOString(), event: 'episode-started', episode: '' },
      ...{ task: task.id, agent: agent.name, collaborator, protocol, prompts: {}, seed },
    },
  };
  return Dialogue.resume(trajectory, { ...parts, log: unrecorded });
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
