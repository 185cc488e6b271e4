import { randomUUID } from 'node:crypto';
import { Fault, messageOf } from '../fault';
import type { Grade, GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import type { GenerateOptions, Model, SamplingSettings } from '../model/model';
import type { Task } from '../task/task';
import type { Collaborator, EventOf, NewEvent } from '../trajectory/event';
import type { Trajectory, Turn } from '../trajectory/trajectory';
import { endingAfter, endingWith, type Ending } from './ending';
import { measureLeak } from './leak';
import type { Prompts } from './prompts';
import { limitReply, type Protocol } from './protocol';
import type { DialogueRecord } from './record';
import { sampleAgent } from './sample';
import { deriveSeed } from './seed';
import type { SimulatedReply, Simulator } from './simulator';

/** What a dialogue needs besides its state, whether it starts or goes on. */
export interface DialogueParts {
  /** Where every step is written; `unrecorded` for a dialogue that nobody will look up. */
  readonly log: DialogueRecord;
  readonly agent: Model;
  /** Plays the collaborator when it has the seat, and when a developer asks it to; may be absent. */
  readonly simulator?: Simulator;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
}

export interface NewDialogue extends DialogueParts {
  readonly task: Task;
  /** The pack's file name. */
  readonly pack?: string;
  readonly collaborator: Collaborator;
  readonly protocol: Protocol;
  readonly seed: number;
  readonly rollout?: number;
  readonly collection?: string;
}

export interface DeveloperReply {
  readonly author: Exclude<EventOf<'reply'>['author'], 'simulator'>;
  /** The developer's pseudonym. */
  readonly by: string;
  /** What the simulator had drafted, and its name. */
  readonly suggestion?: string;
  readonly suggestedBy?: string;
  /** From the agent's message to this reply. */
  readonly milliseconds?: number;
}

/** Whose move it is; `nobody` when the dialogue is over. */
export type Mover = 'agent' | 'collaborator' | 'nobody';

interface State {
  readonly id: string;
  readonly task: Task;
  readonly protocol: Protocol;
  readonly seed: number;
  collaborator: Collaborator;
  turns: Turn[];
  answer: string | undefined;
}

/**
 * One dialogue between an agent and a collaborator under the ColBench protocol. Every step is in the log before its
 * promise resolves, and the state is nothing but what the log says, so that a dialogue can be resumed from it.
 */
export class Dialogue {
  private constructor(
    private readonly parts: DialogueParts,
    private readonly state: State,
    private simulator: Simulator | undefined,
  ) {}

  static async start(options: NewDialogue): Promise<Dialogue> {
    const { log, task, collaborator, protocol, seed } = options;
    const id = randomUUID();
    await log.recordTask(task);
    await log.append({
      event: 'episode-started',
      episode: id,
      task: task.id,
      pack: options.pack,
      agent: options.agent.name,
      collaborator,
      protocol: { ...protocol },
      prompts: { ...options.prompts.versions },
      seed,
      rollout: options.rollout,
      collection: options.collection,
    });
    const state: State = { id, task, protocol, seed, collaborator, turns: [], answer: undefined };
    return new Dialogue(options, state, options.simulator);
  }

  /** Goes on with a dialogue that was cancelled, failed, or left by a process that died. */
  static async resume(trajectory: Trajectory, parts: DialogueParts): Promise<Dialogue> {
    const { id, task, started, collaborator, turns, answer } = trajectory;
    const state: State = {
      id,
      task,
      protocol: started.protocol,
      seed: started.seed,
      collaborator,
      turns: [...turns],
      answer: answer?.answer,
    };
    const dialogue = new Dialogue(parts, state, parts.simulator);
    if (trajectory.state !== 'answered') {
      await parts.log.append({
        event: 'resumed',
        episode: id,
        agent: parts.agent.name,
        prompts: parts.prompts.versions,
      });
      // The process may have died between the last turn and what ends the dialogue.
      const last = dialogue.next === 'collaborator' ? turns.at(-1) : undefined;
      const ending = last === undefined ? undefined : endingAfter(last.agent, dialogue.protocol);
      if (ending !== undefined) await dialogue.close(ending);
    }
    return dialogue;
  }

  get id(): string {
    return this.state.id;
  }

  get task(): Task {
    return this.state.task;
  }

  get protocol(): Protocol {
    return this.state.protocol;
  }

  get turns(): readonly Turn[] {
    return this.state.turns;
  }

  get collaborator(): Collaborator {
    return this.state.collaborator;
  }

  /** The agent's final answer, once there is one. */
  get answer(): string | undefined {
    return this.state.answer;
  }

  get next(): Mover {
    if (this.state.answer !== undefined) return 'nobody';
    const last = this.state.turns.at(-1);
    return last === undefined || last.reply !== undefined ? 'agent' : 'collaborator';
  }

  /** Asks the agent for its next message. The dialogue may be over afterwards. */
  async agentTurn(options: GenerateOptions = {}): Promise<Turn> {
    this.expect('agent');
    return this.sampleTurn(this.state.turns, [], options);
  }

  /**
   * Asks the agent for its last message once more, under a seed of its own. Until the new message is in the log the
   * one before stands; afterwards the log has both.
   */
  async anotherSample(options: GenerateOptions = {}): Promise<Turn> {
    this.expect('collaborator');
    const { agent, superseded = [] } = this.state.turns.at(-1)!;
    return this.sampleTurn(this.state.turns.slice(0, -1), [...superseded, agent], options);
  }

  /** The developer's reply; cut to the protocol's limit. */
  async reply(text: string, from: DeveloperReply): Promise<Turn> {
    // What was made of a suggestion is still bound by the terms of the model that made it.
    const terms = from.author === 'developer' ? undefined : this.simulator?.terms;
    return this.recordReply(text, { ...from, terms });
  }

  /** What the simulator would say now. It is logged only when it is sent. */
  async suggest(options: GenerateOptions = {}): Promise<string> {
    return limitReply((await this.askSimulator(options)).text, this.protocol.replyLimit);
  }

  /** Lets the simulator answer this one turn, whoever has the seat. */
  async simulatorReply(options: GenerateOptions = {}): Promise<Turn> {
    const begun = performance.now();
    const { text, usage } = await this.askSimulator(options);
    options.signal?.throwIfAborted();
    const { name, terms } = this.requireSimulator();
    return this.recordReply(text, {
      author: 'simulator',
      by: name,
      terms,
      usage,
      milliseconds: Math.round(performance.now() - begun),
    });
  }

  /** Gives the collaborator's seat to somebody else, from the next reply on. */
  async handOver(to: Collaborator, simulator?: Simulator): Promise<void> {
    await this.log({ event: 'hand-over', episode: this.id, turn: this.state.turns.length, to });
    this.state.collaborator = to;
    if (simulator !== undefined) this.simulator = simulator;
  }

  /** Ends the dialogue with the agent's last message as its answer. */
  async endNow(): Promise<void> {
    this.expect('collaborator');
    await this.close(endingWith(this.state.turns.at(-1)!.agent, 'ended-by-developer'));
  }

  /** Takes in what somebody thinks of a turn, which was logged beside the dialogue. */
  rated(rating: EventOf<'turn-rating'>): void {
    this.state.turns = this.state.turns.map((turn) =>
      turn.agent.turn === rating.turn ? { ...turn, rating } : turn,
    );
  }

  async abandon(reason: EventOf<'abandoned'>['reason'], message: string): Promise<void> {
    await this.log({ event: 'abandoned', episode: this.id, reason, message });
  }

  /** Grades the answer and logs the grade. */
  async grade(grader: Grader, mode: GradingMode, signal?: AbortSignal): Promise<Grade> {
    if (this.state.answer === undefined) {
      throw new Fault(
        'dialogue/no-answer',
        'This dialogue has no answer to grade yet; let the agent answer first.',
      );
    }
    const grade = await grader.grade(this.task, this.state.answer, { mode, signal });
    await this.log({ event: 'grade', episode: this.id, grade });
    return grade;
  }

  /**
   * Plays on until the dialogue is over or a developer has the seat. A dialogue that is cancelled or fails stays in
   * the log as such.
   * @throws what stopped it, after logging it
   */
  async play(options: GenerateOptions & { readonly onTurn?: () => void } = {}): Promise<void> {
    try {
      while (this.next !== 'nobody') {
        options.signal?.throwIfAborted();
        if (this.next === 'agent') await this.agentTurn(options);
        else if (this.state.collaborator.kind === 'developer') return;
        else await this.simulatorReply({ signal: options.signal });
        options.onTurn?.();
      }
    } catch (error) {
      await this.abandonBecause(error, options.signal?.aborted === true);
      throw error;
    }
  }

  private async abandonBecause(error: unknown, cancelled: boolean): Promise<void> {
    try {
      if (cancelled) await this.abandon('cancelled', 'Cancelled while it was played.');
      else await this.abandon('failed', messageOf(error));
    } catch (unlogged) {
      const message = `${messageOf(error)} This could not be logged either: ${messageOf(unlogged)}`;
      throw new Fault('dialogue/not-logged', message, { cause: error });
    }
  }

  /** @param superseded the samples of this turn so far */
  private async sampleTurn(
    before: readonly Turn[],
    superseded: readonly EventOf<'agent-turn'>[],
    options: GenerateOptions,
  ): Promise<Turn> {
    const isAnother = superseded.length > 0;
    const said = await sampleAgent(this.parts, this.state, before, superseded.length + 1, options);
    const ending = endingAfter(said, this.protocol);
    const logged = await this.parts.log.appendAll(
      [
        ...(isAnother ? [{ event: 'turn-superseded', episode: this.id, turn: said.turn } as const] : []),
        said,
        ...(ending === undefined ? [] : [ending]),
      ],
      { durable: true },
    );
    const taken = logged.find((event) => event.event === 'agent-turn')!;
    this.state.turns = [...before, isAnother ? { agent: taken, superseded } : { agent: taken }];
    this.state.answer = ending?.answer;
    return this.state.turns.at(-1)!;
  }

  private askSimulator(options: GenerateOptions): Promise<SimulatedReply> {
    this.expect('collaborator');
    const { task, turns, protocol, seed } = this.state;
    return this.requireSimulator().reply(
      { task, turns, protocol, seed: deriveSeed(seed, 'simulator', turns.length) },
      options,
    );
  }

  private requireSimulator(): Simulator {
    if (this.simulator !== undefined) return this.simulator;
    throw new Fault('dialogue/no-simulator', 'No simulator is configured; choose one or answer yourself.');
  }

  private async recordReply(
    text: string,
    from: Pick<
      EventOf<'reply'>,
      'author' | 'by' | 'suggestion' | 'suggestedBy' | 'terms' | 'usage' | 'milliseconds'
    >,
  ): Promise<Turn> {
    this.expect('collaborator');
    const turn = this.state.turns.length;
    const said = limitReply(text, this.protocol.replyLimit);
    if (said === '') {
      throw new Fault('dialogue/empty-reply', `The reply to turn ${turn} is empty; say something.`);
    }
    const [reply, leak] = (await this.parts.log.appendAll(
      [
        {
          event: 'reply',
          episode: this.id,
          turn,
          text: said,
          ...from,
          fullText: said === text.trim() ? undefined : text,
        },
        { event: 'leak', episode: this.id, turn, ...measureLeak(this.task.reference, said) },
      ],
      { durable: true },
    )) as [EventOf<'reply'>, EventOf<'leak'>];
    this.state.turns[turn - 1] = { ...this.state.turns.at(-1)!, reply, leak };
    return this.state.turns[turn - 1]!;
  }

  private async close(ending: Ending): Promise<void> {
    await this.log(ending);
    this.state.answer = ending.answer;
  }

  private expect(mover: Mover): void {
    if (this.next === mover) return;
    const turn = this.state.turns.length;
    throw new Fault(
      'dialogue/not-your-turn',
      `It is not the ${mover}'s move after turn ${turn} of this dialogue.`,
    );
  }

  /** A step of a dialogue is on the disk before anyone is shown it. */
  private log<E extends NewEvent>(event: E): Promise<EventOf<E['event']>> {
    return this.parts.log.append(event, { durable: true });
  }
}
