import { Dialogue } from '../../dialogue/dialogue';
import { type DialogueParts, unrecorded } from '../../dialogue/dialogueParts';
import type { Protocol } from '../../dialogue/protocol';
import { deriveSeed } from '../../seed';
import type { Simulator } from '../../dialogue/simulator';
import { Gate } from '../../grading/fairRun';
import type { Task } from '../../task/task';
import { LOG_VERSION } from '../../trajectory/event';
import type { Trajectory, Turn } from '../../trajectory/trajectory';
import {
  AnswerScores,
  identityOf,
  turnsOf,
  type CandidateWorth,
  type HistoryValue,
  type Position,
  type ValuePlan,
} from './playedCredit';

export interface RolloutPlan extends Omit<ValuePlan, 'samples' | 'concurrency'> {
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

export interface End {
  readonly success: boolean | null;
  readonly reward: number;
  /** True when the candidate itself ended the dialogue, so that every roll would be the same. */
  readonly certain: boolean;
}

/** Plays to the end from a start. */
export async function roll(
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

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
