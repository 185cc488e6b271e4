import { exchangedMessages, type Exchange } from '../../dialogue/conversation';
import { draftsOf } from '../../dialogue/drafts';
import { ANSWER_OPENINGS } from '../../dialogue/markers';
import { agentPromptFor } from '../../dialogue/prompts';
import { limitReply, parseAgentMessage } from '../../dialogue/protocol';
import { deriveSeed } from '../../seed';
import { endingAfter } from '../../dialogue/state';
import { Fault } from '../../fault';
import { Gate } from '../../grading/fairRun';
import { isProgram, type ProgramTask, type Task } from '../../task/task';
import {
  AnswerScores,
  identityOf,
  turnsOf,
  type CandidateWorth,
  type HistoryValue,
  type Position,
  type ValuePlan,
} from './playedCredit';

/** `opening`: it could only begin with an answer. `last-turn`: it was told that the message is its last, the answer. */
export type Forcing = 'opening' | 'last-turn';

/**
 * Reinforcement learning as an improvement heuristic (arXiv 2409.11933): Φ(h) is the mean fraction of hidden tests
 * passed by answers that the agent is forced to give at h. Of a page it is the score of the last draft.
 *
 * The seeds of a task's answers are the same at each of its histories (common random numbers), and an exchange that
 * repeats an earlier one word for word is not read: Φ of what is known does not change, so its credit is exactly 0.
 */
export class AnswerNow implements HistoryValue {
  readonly kind = 'answer-now';
  private readonly scores: AnswerScores;
  private readonly gate: Gate;
  private readonly values = new Map<string, Promise<number>>();
  private forced: Promise<Forcing> | undefined;

  constructor(private readonly plan: ValuePlan) {
    this.scores = new AnswerScores(plan);
    this.gate = new Gate(plan.concurrency, 1);
  }

  get id(): string {
    return identityOf('answer-now', this.plan);
  }

  forcing(): Promise<Forcing> {
    const { agent, signal } = this.plan;
    this.forced ??= (agent.forcesOpening?.(signal) ?? Promise.resolve(false)).then((forces) =>
      forces ? 'opening' : 'last-turn',
    );
    return this.forced;
  }

  value({ task, history, ...position }: Position): Promise<number> {
    const news = withoutRepeats(history);
    const key = JSON.stringify([task.id, news]);
    const value = this.values.get(key) ?? this.valueOf({ ...position, task, history: news });
    this.values.set(key, value);
    return value;
  }

  async candidate(position: Position, message: string): Promise<CandidateWorth> {
    const { task, protocol, history } = position;
    const turn = history.length + 1;
    const said = [...history, { agent: message }];
    const ending = endingAfter({ episode: '', text: message, turn }, protocol);
    if (ending !== undefined) {
      const answer = isProgram(task) ? ending.answer : lastDraft(said);
      return { value: await this.reward(task, answer), ended: true };
    }
    const reply = limitReply(await this.reply(position, said), protocol.replyLimit);
    const value = await this.value({ ...position, history: [...history, { agent: message, reply }] });
    return { value, reply, ended: false };
  }

  async reward(task: Task, answer: string): Promise<number> {
    return (await this.scores.of(task, answer)).reward;
  }

  private async reply({ task, protocol }: Position, said: readonly Exchange[]): Promise<string> {
    const { simulator, pages, signal } = this.plan;
    if (simulator === undefined)
      throw new Fault('dialogue/no-simulator', 'A candidate needs a simulator to reply to it; name one.');
    const seed = deriveSeed(this.plan.seed, 'simulator', task.id, said.length);
    return (await simulator.reply({ task, protocol, seed, pages, turns: turnsOf(said) }, { signal })).text;
  }

  private async valueOf(position: Position): Promise<number> {
    const { task, history } = position;
    if (!isProgram(task)) return this.reward(task, lastDraft(history));
    const forcing = await this.forcing();
    const answers = Array.from({ length: this.plan.samples }, (_, sample) =>
      this.gate.together(async () => this.reward(task, await this.answer(position, task, forcing, sample))),
    );
    return (await Promise.all(answers)).reduce((sum, reward) => sum + reward, 0) / answers.length;
  }

  private async answer(
    { protocol, history }: Position,
    task: ProgramTask,
    forcing: Forcing,
    sample: number,
  ): Promise<string> {
    const { agent, prompts, signal } = this.plan;
    const turn = history.length + 1;
    const limits = forcing === 'opening' ? protocol : { ...protocol, maxTurns: turn };
    const prompt = agentPromptFor(task);
    const opening = { description: task.description, protocol: limits, prompt };
    const sampling = { ...this.plan.sampling, seed: deriveSeed(this.plan.seed, 'answer', task.id, sample) };
    const openings = forcing === 'opening' ? ANSWER_OPENINGS : undefined;
    const { text } = await agent.generate(exchangedMessages(opening, history, prompts), sampling, {
      ...{ signal, openings, position: { description: task.description, turn } },
    });
    const { answer, visible } = parseAgentMessage(text);
    return answer ?? visible;
  }
}

/** Leaves out an exchange in which both sides say, word for word, what they said in an earlier one. */
function withoutRepeats(history: readonly Exchange[]): Exchange[] {
  const exchanges = new Map<string, Exchange>();
  for (const exchange of history) {
    const key = JSON.stringify([parseAgentMessage(exchange.agent).visible, exchange.reply]);
    if (!exchanges.has(key)) exchanges.set(key, exchange);
  }
  return [...exchanges.values()];
}

const lastDraft = (history: readonly Exchange[]): string => draftsOf(turnsOf(history)).at(-1)?.html ?? '';
