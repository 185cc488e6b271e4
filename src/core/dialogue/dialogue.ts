import { randomUUID } from 'node:crypto';
import { Fault, messageOf } from '../fault';
import type { Grade, GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import { type GenerateOptions, MAX_REPLY_CHARS } from '../model/model';
import { gradePage } from '../grading/page';
import { isProgram, programOf, type Task } from '../task/task';
import { isChoice, type Trajectory, type Turn } from '../trajectory/trajectory';
import type { Candidate, Collaborator, EventOf, NewEvent, Picked } from '../trajectory/event';
import { termsOf } from '../trajectory/modelTerms';
import {
  drawCandidates,
  goesOnWith,
  lookAlike,
  type CandidateOptions,
  sampleAgent,
  type AgentTurnEvent,
} from './sample';
import {
  endingAfter,
  endingWith,
  type Ending,
  moverOf,
  stateOf,
  undecidedOf,
  type DialogueState,
  type Mover,
} from './state';
import { draftsOf } from './drafts';
import { copiedTurns, turnsIn } from './fork';
import { leakOf } from './leak';
import { replyIn, type SimulatedReply, type Simulator } from './simulator';
import { pictureId } from '../trajectory/pictures';
import type { Chooser, DeveloperReply, DialogueParts, NewDialogue } from './dialogueParts';
import { limitReply, type Protocol } from './protocol';
import { deriveSeed } from '../seed';

/**
 * One dialogue between an agent and a collaborator under the ColBench protocol. Every step is in the log before its
 * promise resolves, and the state holds only what the log says, so that a dialogue can be resumed from it.
 */
export class Dialogue {
  private constructor(
    private readonly parts: DialogueParts,
    private readonly state: DialogueState,
    private simulator: Simulator | undefined,
  ) {}

  static async start(options: NewDialogue): Promise<Dialogue> {
    const { id = randomUUID(), log, task, collaborator, protocol, seed } = options;
    await log.recordTask(task);
    const started = {
      event: 'episode-started',
      episode: id,
      task: task.id,
      pack: options.pack,
      agent: options.agent.name,
      collaborator,
      protocol: { ...protocol },
      prompts: promptVersions(options, task),
      seed,
      rollout: options.rollout,
      collection: options.collection,
      parent: options.parent,
    } as const;
    // In one write: a fork without what it repeats would be another dialogue.
    const said = await log.appendAll([started, ...copiedTurns(options.inherited ?? [], id)]);
    const nothing = { turns: turnsIn(said), pending: [], answer: undefined };
    const agent = options.agent.name;
    const state = { id, task, protocol, seed, agent, collaborator, ...nothing };
    return new Dialogue(options, state, options.simulator);
  }

  /**
   * Resumes a dialogue that was cancelled, failed, or left by a process that died. It stays that of the agent that spoke
   * last until another one speaks.
   */
  static async resume(trajectory: Trajectory, parts: DialogueParts): Promise<Dialogue> {
    const { id, turns, pending = [] } = trajectory;
    const dialogue = new Dialogue(parts, stateOf(trajectory), parts.simulator);
    if (trajectory.state !== 'answered') {
      await parts.log.append({
        event: 'resumed',
        episode: id,
        prompts: promptVersions(parts, trajectory.task),
      });
      // The process may have died after a choice, before the turn that the choice makes.
      const { shown, choice } = pending.at(-1) ?? {};
      if (shown !== undefined && choice !== undefined && choice.picked !== 'neither') {
        await dialogue.say(dialogue.saidBy(goesOnWith(shown, choice.picked)));
      }
      // It may also have died after the last turn, before the event that ends the dialogue.
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

  get agent(): string {
    return this.state.agent;
  }

  get collaborator(): Collaborator {
    return this.state.collaborator;
  }

  get answer(): string | undefined {
    return this.state.answer;
  }

  get candidates(): EventOf<'candidates'> | undefined {
    return undecidedOf(this.state.pending);
  }

  get next(): Mover {
    return moverOf(this.state);
  }

  async agentTurn(options: GenerateOptions = {}): Promise<Turn> {
    this.expect('agent');
    const said = await sampleAgent(this.parts, this.state, this.state.turns, 1, options);
    return this.say(said, this.agentChange);
  }

  /** Records the next message of an agent that samples elsewhere and does not say how, or of a person. */
  async agentSaid(text: string, by?: string): Promise<Turn> {
    this.expect('agent');
    const turn = this.state.turns.length + 1;
    const model = this.parts.agent.name;
    const said = {
      event: 'agent-turn',
      episode: this.id,
      turn,
      by,
      text,
      finishReason: 'other',
      model,
    } as const;
    return this.say(said, this.agentChange);
  }

  /** If the two candidates look alike, one of them becomes the turn at once; otherwise `choose` picks one. */
  async drawCandidates(options: CandidateOptions = {}): Promise<void> {
    this.expect('agent');
    const { turns, pending } = this.state;
    const candidates = await drawCandidates(this.parts, this.state, turns, pending.length, options);
    if (lookAlike(candidates)) {
      await this.say(this.saidBy(candidates[0]), this.agentChange);
      return;
    }
    const turn = turns.length + 1;
    const draw = { event: 'candidates', episode: this.id, turn, candidates } as const;
    const logged = await this.parts.log.appendAll([...this.agentChange, draw], { durable: true });
    const shown = logged.find((event) => event.event === 'candidates')!;
    this.state.agent = this.parts.agent.name;
    this.state.pending = [...pending, { shown }];
  }

  /** If both are equal, the first shown becomes the turn; if neither will do, it is the agent's move again. */
  async choose(picked: Picked, { by, milliseconds }: Chooser): Promise<void> {
    this.expect('chooser');
    const shown = this.candidates!;
    const refused = this.state.pending.slice(0, -1);
    const choose = { event: 'choice', episode: this.id, turn: shown.turn, picked, by, milliseconds } as const;
    if (picked === 'neither') {
      this.state.pending = [...refused, { shown, choice: await this.log(choose) }];
    } else {
      await this.say(this.saidBy(goesOnWith(shown, picked)), [choose]);
    }
  }

  /** Under a new seed. The old message stands until the new one is in the log; afterwards the log has both. */
  async anotherSample(options: GenerateOptions = {}): Promise<Turn> {
    this.expect('collaborator');
    const { agent, superseded = [] } = this.state.turns.at(-1)!;
    const before = this.state.turns.slice(0, -1);
    const samples = [...superseded, agent];
    const said = await sampleAgent(this.parts, this.state, before, samples.length + 1, options);
    const supersede = { event: 'turn-superseded', episode: this.id, turn: agent.turn } as const;
    return this.say(said, [...this.agentChange, supersede], samples);
  }

  async reply(text: string, from: DeveloperReply): Promise<Turn> {
    // An edited suggestion stays bound by the terms of the model that drafted it, even if another simulates by now.
    return this.recordReply(text, { ...from, ...termsOf(from.suggestedBy ?? '') });
  }

  /** Logged only when it is sent. */
  async suggest(options: GenerateOptions = {}): Promise<string> {
    return limitReply((await this.askSimulator(options)).text, this.protocol.replyLimit);
  }

  /** For one turn, even when a developer has the seat. */
  async simulatorReply(options: GenerateOptions = {}): Promise<Turn> {
    const begun = performance.now();
    const { text, usage, shown, pictures, endsDialogue } = await this.askSimulator(options);
    options.signal?.throwIfAborted();
    const { name, terms } = this.requireSimulator();
    return this.recordReply(text, {
      author: 'simulator',
      by: name,
      terms,
      usage,
      shown,
      milliseconds: Math.round(performance.now() - begun),
      pictures,
      endsDialogue,
    });
  }

  /** Records the reply of a simulator that samples elsewhere, from what it wrote. */
  async simulatorSaid(written: string): Promise<Turn> {
    const { name, terms } = this.requireSimulator();
    return this.recordReply(replyIn(written), { author: 'simulator', by: name, terms });
  }

  async handOver(to: Collaborator, simulator?: Simulator): Promise<void> {
    await this.log({ event: 'hand-over', episode: this.id, turn: this.state.turns.length, to });
    this.state.collaborator = to;
    if (simulator !== undefined) this.simulator = simulator;
  }

  /** The last message becomes the answer, even when it has a reply already. */
  async endNow(): Promise<void> {
    const last = this.state.turns.at(-1);
    if (last === undefined || this.next !== 'agent') this.expect('collaborator');
    await this.close(endingWith(last!.agent, 'ended-by-developer'));
  }

  /** The rating has been logged elsewhere. */
  rated(rating: EventOf<'turn-rating'>): void {
    this.state.turns = this.state.turns.map((turn) =>
      turn.agent.turn === rating.turn ? { ...turn, rating } : turn,
    );
  }

  async abandon(reason: EventOf<'abandoned'>['reason'], message: string): Promise<void> {
    await this.log({ event: 'abandoned', episode: this.id, reason, message });
  }

  async grade(grader: Pick<Grader, 'grade'>, mode: GradingMode, signal?: AbortSignal): Promise<Grade> {
    if (this.state.answer === undefined) {
      throw new Fault(
        'dialogue/no-answer',
        'This dialogue has no answer to grade yet; let the agent answer first.',
      );
    }
    const { task, turns } = this;
    const { pages, clip } = this.parts;
    const grade =
      isProgram(task) || pages === undefined
        ? await grader.grade(programOf(task), this.state.answer, { mode, signal })
        : await gradePage(task, draftsOf(turns), mode, pages, clip);
    await this.log({ event: 'grade', episode: this.id, grade });
    return grade;
  }

  /**
   * Plays on until the dialogue is over or it is a developer's move. One that outgrows the agent's context is over. The
   * log records when a dialogue was cancelled or failed.
   * @throws the error that stopped it, after logging it
   */
  async play(options: GenerateOptions & { readonly onTurn?: () => void } = {}): Promise<void> {
    try {
      while (this.next !== 'nobody') {
        options.signal?.throwIfAborted();
        if (this.next === 'agent') await this.agentTurnOrEnd(options);
        else if (this.next === 'chooser' || this.state.collaborator.kind === 'developer') return;
        else await this.simulatorReply({ signal: options.signal });
        options.onTurn?.();
      }
    } catch (error) {
      await this.abandonBecause(error, options.signal?.aborted === true);
      throw error;
    }
  }

  /** The agent's last message becomes its answer when its context takes no more. */
  async agentTurnOrEnd(options: GenerateOptions): Promise<void> {
    try {
      await this.agentTurn(options);
    } catch (error) {
      const last = this.state.turns.at(-1);
      const isFull = error instanceof Fault && error.code === 'model/too-long';
      if (!isFull || last === undefined) throw error;
      await this.close(endingWith(last.agent, 'context-limit'));
    }
  }

  private async abandonBecause(error: unknown, cancelled: boolean): Promise<void> {
    try {
      if (cancelled) await this.abandon('cancelled', 'Canceled while it was played.');
      else await this.abandon('failed', messageOf(error));
    } catch (unlogged) {
      const message = `${messageOf(error)} This could not be logged either: ${messageOf(unlogged)}`;
      throw new Fault('dialogue/not-logged', message, { cause: error });
    }
  }

  private get agentChange(): readonly NewEvent[] {
    const { name: agent } = this.parts.agent;
    return agent === this.state.agent ? [] : [{ event: 'resumed', episode: this.id, agent }];
  }

  /** Another agent's turn keeps that agent's name, by which training leaves it out where its terms forbid it. */
  private saidBy({ agent, ...message }: Candidate): AgentTurnEvent {
    const model = agent === this.parts.agent.name ? message.model : agent;
    return { event: 'agent-turn', episode: this.id, turn: this.state.turns.length + 1, ...message, model };
  }

  /**
   * Logs the agent's message, and the end of the dialogue if the message ends it.
   * @param because the events before it: the change of the agent, the choice that it comes from, the sample that it
   *   replaces
   * @param superseded the samples that it replaces
   */
  private async say(
    said: AgentTurnEvent,
    because: readonly NewEvent[] = [],
    superseded: Turn['superseded'] = [],
  ): Promise<Turn> {
    const before = this.state.turns.slice(0, said.turn - 1);
    const ended = endingAfter(said, this.protocol);
    const ending = ended && this.answering(ended, [...before, { agent: said }]);
    const events = [...because, said, ...(ending === undefined ? [] : [ending])];
    const logged = await this.parts.log.appendAll(events, { durable: true });
    const agent = logged.find((event) => event.event === 'agent-turn')!;
    const choice = logged.find((event) => event.event === 'choice');
    const chosen = this.state.pending.map((shown) => ({ choice, ...shown })).filter(isChoice);
    const candidates = [...(this.state.turns[said.turn - 1]?.candidates ?? []), ...chosen];
    const turn: Turn = {
      agent,
      ...(candidates.length > 0 && { candidates }),
      ...(superseded.length > 0 && { superseded }),
    };
    this.state.agent = logged.find((event) => event.event === 'resumed')?.agent ?? this.state.agent;
    this.state.pending = [];
    this.state.turns = [...before, turn];
    this.state.answer = ending?.answer;
    return turn;
  }

  private askSimulator(options: GenerateOptions): Promise<SimulatedReply> {
    this.expect('collaborator');
    const { task, turns, protocol, seed } = this.state;
    return this.requireSimulator().reply(
      { task, turns, protocol, seed: deriveSeed(seed, 'simulator', turns.length), pages: this.parts.pages },
      options,
    );
  }

  private requireSimulator(): Simulator {
    if (this.simulator !== undefined) return this.simulator;
    throw new Fault('dialogue/no-simulator', 'No simulator is configured; choose one or reply yourself.');
  }

  private async recordReply(
    text: string,
    {
      pictures,
      endsDialogue,
      ...from
    }: Pick<
      EventOf<'reply'>,
      'author' | 'by' | 'suggestion' | 'suggestedBy' | 'shown' | 'pins' | 'terms' | 'usage' | 'milliseconds'
    > &
      Pick<SimulatedReply, 'pictures' | 'endsDialogue'>,
  ): Promise<Turn> {
    this.expect('collaborator');
    const turn = this.state.turns.length;
    if (text.length > MAX_REPLY_CHARS)
      throw new Fault(
        'dialogue/too-long-reply',
        `The reply to turn ${turn} has ${text.length.toLocaleString('en')} characters, and ${MAX_REPLY_CHARS.toLocaleString('en')} are the most; shorten it.`,
      );
    const said = limitReply(text, this.protocol.replyLimit);
    if (said === '') {
      throw new Fault('dialogue/empty-reply', `The reply to turn ${turn} is empty; say something.`);
    }
    const unanswered = { episode: this.id, turn, answer: '', reason: 'ended-by-simulator' } as const;
    const [reply, leak] = (await this.parts.log.appendAll(
      [
        {
          event: 'reply',
          episode: this.id,
          turn,
          text: said,
          ...from,
          pictures: pictures && {
            draft: pictureId(pictures.draft),
            wanted: pictureId(pictures.wanted),
            renderer: pictures.renderer,
          },
          fullText: said === text.trim() ? undefined : text,
        },
        { event: 'leak', episode: this.id, turn, ...leakOf(this.task, said) },
        ...(endsDialogue ? [{ event: 'answered', ...unanswered } as const] : []),
      ],
      { durable: true, pictures: pictures && [pictures.draft, pictures.wanted] },
    )) as [EventOf<'reply'>, EventOf<'leak'>];
    this.state.turns[turn - 1] = { ...this.state.turns.at(-1)!, reply, leak };
    if (endsDialogue) this.state.answer = unanswered.answer;
    return this.state.turns[turn - 1]!;
  }

  private async close(ending: Ending): Promise<void> {
    const { answer } = await this.log(this.answering(ending, this.state.turns));
    this.state.answer = answer;
  }

  /** The answer to a page task is the last page that the agent showed, even if later messages have none. */
  private answering(ending: Ending, turns: Parameters<typeof draftsOf>[0]): Ending {
    return isProgram(this.task) ? ending : { ...ending, answer: draftsOf(turns).at(-1)?.html ?? '' };
  }

  private expect(mover: Mover): void {
    if (this.next === mover) return;
    const turn = this.state.turns.length;
    throw new Fault(
      'dialogue/not-your-turn',
      `It is not the ${mover}'s move after turn ${turn} of this dialogue.`,
    );
  }

  /** On the disk before anyone is shown it. */
  private log<E extends NewEvent>(event: E): Promise<EventOf<E['event']>> {
    return this.parts.log.append(event, { durable: true });
  }
}

/** Those that the agent and, if there is one, the simulator read. */
const promptVersions = (
  { prompts, simulator }: Pick<DialogueParts, 'prompts' | 'simulator'>,
  task: Task,
): Record<string, string> => ({ ...prompts.versionsFor(task), ...simulator?.promptVersions });
