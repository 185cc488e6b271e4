import { createHash } from 'node:crypto';
import type { Exchange } from '../../dialogue/conversation';
import type { DialogueParts } from '../../dialogue/dialogueParts';
import type { Protocol } from '../../dialogue/protocol';
import { graderVersion, type Grade, type GradingMode } from '../../grading/grade';
import type { Model } from '../../model/model';
import { isProgram, testsOf, type Task } from '../../task/task';
import { LOG_VERSION } from '../../trajectory/event';
import type { Trajectory, Turn } from '../../trajectory/trajectory';
import type { Credit, TurnCredit } from './credit';
import { gainsOf, type ScoredDraft } from '../scoring/dialogues';
import { Fault } from '../../fault';
import type { Grader } from '../../grading/grader';
import { gradePage } from '../../grading/page';

// Credit without a critic: what the agent makes of each history tells the worth of the turns between them.

/** A dialogue that people or models played, as far as its credit needs it. */
export interface PlayedDialogue {
  readonly id: string;
  readonly task: Task;
  readonly protocol: Protocol;
  readonly exchanges: readonly Exchange[];
  /** Absent while the dialogue is not finished. */
  readonly answer?: string;
  /** Of a page, as it was graded. */
  readonly drafts?: readonly ScoredDraft[];
}

/** A history after which the agent speaks. */
export interface Position extends Pick<PlayedDialogue, 'task' | 'protocol'> {
  readonly history: readonly Exchange[];
}

export interface CandidateWorth {
  readonly value: number;
  /** The simulator's; absent when the candidate ends the dialogue, and where each roll has its own. */
  readonly reply?: string;
  readonly ended: boolean;
}

/** The worth of histories, 0 to 1, as the model that plays the agent shows it. */
export interface HistoryValue {
  readonly kind: 'answer-now' | 'rollouts';
  /** Names the model and all settings: credit is kept under it. */
  readonly id: string;
  /** @throws {Fault} `training/cannot-score` when answers to the task cannot be graded here; faults of the models */
  value(position: Position): Promise<number>;
  /** @param message the candidate as the agent would write it. @throws as `value` */
  candidate(position: Position, message: string): Promise<CandidateWorth>;
  /** Reward of the answer that ended a dialogue. @throws as `value` */
  reward(task: Task, answer: string): Promise<number>;
}

export interface ValuePlan extends Omit<DialogueParts, 'log'>, AnswerGrading {
  /** Answers, or dialogues, for each history. */
  readonly samples: number;
  readonly seed: number;
  /** Answers, or dialogues, at work at once, whatever number of histories waits. */
  readonly concurrency: number;
}

/** What decides a value. */
interface ValueIdentity extends Pick<ValuePlan, 'prompts' | 'sampling' | 'samples' | 'seed' | 'mode'> {
  readonly agent: Pick<Model, 'name' | 'fingerprint'>;
  readonly simulator?: Pick<Model, 'name' | 'fingerprint'>;
}

export function identityOf(
  kind: HistoryValue['kind'],
  { agent, simulator, prompts, sampling, samples, seed, mode }: ValueIdentity,
): string {
  const players = [agent, ...(kind === 'rollouts' && simulator ? [simulator] : [])];
  const identity = [
    ...[kind, samples, seed, mode, graderVersion, sampling, prompts.versions, prompts.pageVersions],
    players.map(({ name, fingerprint = null }) => [name, fingerprint]),
  ];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
}

export function playedDialogue({ id, task, started, turns, answer, grades }: Trajectory): PlayedDialogue {
  const page = grades.findLast(({ grade }) => grade.page !== undefined)?.grade.page;
  return {
    ...{ id, task, protocol: started.protocol, drafts: page?.drafts, answer: answer?.answer },
    exchanges: turns.map(({ agent, reply }) => ({ agent: agent.text, reply: reply?.text })),
  };
}

/** Changes with every turn that is added or rewritten. */
export function digestOf({ task, exchanges, answer, drafts }: PlayedDialogue): string {
  const content = [task.description, task.reference, testsOf(task), exchanges, answer, drafts];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
}

/**
 * Credit of turn t: V(history after its reply) − V(history before it), where the answer's reward stands for the value
 * after the last turn. So the credits of a finished dialogue sum to R − V(h₁).
 * @param onValue after each history
 * @throws as `HistoryValue`
 */
export async function playedCredit(
  dialogue: PlayedDialogue,
  by: HistoryValue,
  onValue: () => void = () => undefined,
): Promise<Credit> {
  const head = { version: 1, episode: dialogue.id, critic: by.id, of: digestOf(dialogue) } as const;
  return { ...head, unit: 'reward', turns: await creditedTurns(dialogue, by, onValue) };
}

async function creditedTurns(
  dialogue: PlayedDialogue,
  by: HistoryValue,
  onValue: () => void,
): Promise<TurnCredit[]> {
  const { task, exchanges, answer, drafts } = dialogue;
  // What a page is worth now is the score of its last draft, which its grade has.
  if (by.kind === 'answer-now' && !isProgram(task) && drafts !== undefined)
    return pageTurns(drafts, exchanges.length);
  const valueAfter = async (turns: number): Promise<number> => {
    const value = await by.value({ ...dialogue, history: exchanges.slice(0, turns) });
    onValue();
    return value;
  };
  const end = async (): Promise<number | null> => {
    if (answer !== undefined) return by.reward(task, answer);
    return exchanges.at(-1)?.reply === undefined ? null : valueAfter(exchanges.length);
  };
  const [after, ...before] = await Promise.all([end(), ...exchanges.map((_, turn) => valueAfter(turn))]);
  return exchanges.map((_, index) => {
    const value = before[index]!;
    const next = before[index + 1] ?? after;
    return { turn: index + 1, value, advantage: next === null ? null : next - value, untrained: null };
  });
}

function pageTurns(drafts: readonly ScoredDraft[], turns: number): TurnCredit[] {
  let value = 0;
  return [...gainsOf(drafts, turns)].map(([turn, advantage]) => {
    const credit = { turn, value, advantage, untrained: null };
    value += advantage;
    return credit;
  });
}

/** Reward of the finished dialogue, which its credit has; null for an unfinished one. */
export function rewardOf({ turns }: Credit): number | null {
  const { value, advantage } = turns.at(-1) ?? {};
  return value === undefined || typeof advantage !== 'number' ? null : value + advantage;
}

/** As events of a log that is not kept. */
export function turnsOf(exchanges: readonly Exchange[]): Turn[] {
  const head = { version: LOG_VERSION, at: new Date().toISOString(), episode: '' };
  return exchanges.map(({ agent: text, reply }, index) => {
    const turn = index + 1;
    const agent = { ...head, event: 'agent-turn', turn, text, finishReason: 'other', model: '' } as const;
    if (reply === undefined) return { agent };
    return {
      agent,
      reply: { ...head, event: 'reply', turn, text: reply, author: 'simulator', by: '' } as const,
    };
  });
}

/** Pages may be absent where no task is a web page. */
export interface AnswerGrading extends Pick<DialogueParts, 'pages' | 'clip'> {
  readonly grader: Pick<Grader, 'grade'>;
  readonly mode: GradingMode;
  readonly signal?: AbortSignal;
}

interface AnswerScore extends Pick<Grade, 'success'> {
  readonly reward: number;
}

/** Grades each answer once, also while it is being graded, because most samples of a history end in one of a few. */
export class AnswerScores {
  private readonly scores = new Map<string, Promise<AnswerScore>>();

  constructor(private readonly grading: AnswerGrading) {}

  /** @throws {Fault} `training/cannot-score` when the answer cannot be graded here */
  of(task: Task, answer: string): Promise<AnswerScore> {
    const key = createHash('sha256')
      .update(JSON.stringify([task.id, answer]))
      .digest('base64');
    const score = this.scores.get(key) ?? this.graded(task, answer);
    this.scores.set(key, score);
    return score;
  }

  private async graded(task: Task, answer: string): Promise<AnswerScore> {
    const { reward, success, notGradable = 'no reason was given.' } = await this.grade(task, answer);
    if (reward !== null) return { reward, success };
    throw new Fault(
      'training/cannot-score',
      `An answer to the task ${task.id} cannot be graded here: ${notGradable} Leave such tasks out.`,
    );
  }

  private grade(task: Task, answer: string): Promise<Grade> {
    const { grader, mode, pages, clip, signal } = this.grading;
    if (isProgram(task)) return grader.grade(task, answer, { mode, signal });
    if (pages === undefined)
      throw new Fault(
        'training/cannot-score',
        `The task ${task.id} is a web page, which cannot be scored here. Grade its dialogues first.`,
      );
    return gradePage(task, answer === '' ? [] : [{ turn: 1, html: answer }], mode, pages, clip);
  }
}
