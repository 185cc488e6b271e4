import { randomUUID } from 'node:crypto';
import { Dialogue } from '../dialogue/dialogue';
import type { PackTask } from '../dialogue/collect';
import type { DialogueParts, DialogueRecord } from '../dialogue/dialogueParts';
import { parseAgentMessage, type Protocol } from '../dialogue/protocol';
import type { Prompts } from '../dialogue/prompts';
import { type Simulator, replyIn } from '../dialogue/simulator';
import { Fault, messageOf } from '../fault';
import type { Grade, GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import type { Model, SamplingSettings } from '../model/model';
import { isProgram } from '../task/task';
import type { Turn } from '../trajectory/trajectory';
import type { TaskSplits } from './splits';
import {
  type AgentAction,
  type EnvironmentState,
  type EpisodeObservation,
  type ObservationMetadata,
  textOf,
  type ResetRequest,
} from './messages';
import { simulatorMessages } from '../dialogue/conversation';
import { requestAfter } from '../dialogue/sample';
import { endingAfter } from '../dialogue/state';
import { deriveSeed } from '../seed';
import { turnsOf } from '../training/credit/playedCredit';
import { dialogueAfter } from '../training/credit/rollouts';

type Seat = 'agent' | 'collaborator';

/** Pages and CLIP may be absent where no task is a web page. */
export interface EnvironmentPlan extends Pick<DialogueParts, 'pages' | 'clip'> {
  readonly splits: TaskSplits;
  readonly simulator: Simulator;
  readonly prompts: Prompts;
  readonly protocol: Protocol;
  /** Of web pages, whose replies are longer. */
  readonly pageProtocol: Protocol;
  readonly seed: number;
  readonly grader: Grader;
  readonly mode: GradingMode;
  /** `unrecorded` when no log is kept. */
  readonly log: DialogueRecord;
  readonly agent: Model;
  /** Whom clients play. The other one, `simulator` or `agent`, plays here. */
  readonly seat: Seat;
  /** Of an agent that plays here. */
  readonly sampling: SamplingSettings;
  /** Plays or answers at histories whose candidates `POST /values` asks about. */
  readonly valueAgent?: Model;
  readonly collection: string;
  readonly rollouts: Map<string, number>;
  readonly counts: EpisodeCounts;
}

/** Episodes with at least one message of the agent. */
export interface EpisodeCounts {
  begun: number;
  graded: number;
}

/** The agent in the log. It samples at the client and is never asked for a message here. */
export const clientAgent = (name: string): Model => ({
  name,
  generate: () =>
    Promise.reject(new Fault('dialogue/not-your-turn', `The agent ${name} is asked by its client.`)),
});

/** The collaborator in the log, where clients play that seat. */
export const clientSimulator = (name: string): Simulator => ({
  kind: 'simulator',
  name,
  reply: () =>
    Promise.reject(new Fault('dialogue/not-your-turn', `The collaborator ${name} is asked by its client.`)),
});

/** The client samples, so the log does not record it. */
export const samplingElsewhere = { temperature: 1, maxTokens: 0 };

/** Of one episode. */
interface EpisodeNumbers {
  readonly seed: number;
  readonly rollout: number;
}

/** One dialogue. Its steps must not overlap. */
export abstract class ServedEpisode {
  protected readonly id = randomUUID();
  protected dialogue: Dialogue | undefined;
  protected isOver = false;
  protected steps = 0;

  constructor(
    protected readonly plan: EnvironmentPlan,
    protected readonly chosen: PackTask,
    protected readonly numbers: EpisodeNumbers,
    private readonly name: string | undefined,
  ) {}

  get state(): EnvironmentState {
    const { name, id, steps, isOver } = this;
    return { episode_id: name ?? id, step_count: steps, task: this.chosen.task.id, done: isOver };
  }

  /** Resolves with what the client answers first. To be called once, before any step. @throws as `step` */
  abstract open(signal?: AbortSignal): Promise<EpisodeObservation>;

  /** Says the client's message and plays until the client is to speak again. */
  protected abstract answered(action: AgentAction, signal?: AbortSignal): Promise<EpisodeObservation>;

  /**
   * Resolves with the other side's message or, when the dialogue ended, the grade.
   * @throws {Fault} `environment/over`; errors of the simulator, the grader and the log, after logging them: then the
   * episode is over
   */
  async step(action: AgentAction, signal?: AbortSignal): Promise<EpisodeObservation> {
    if (this.isOver) throw new Fault('environment/over', 'The episode is over; send reset to begin another.');
    return this.orEnd(() => this.answered(action, signal), signal);
  }

  /** Ends the episode when the work fails. */
  protected async orEnd<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted !== true) await this.end('failed', messageOf(error));
      throw error;
    }
  }

  /** Logs that the episode stopped before its answer, if it did. */
  abandon(why: string): Promise<void> {
    return this.end('cancelled', why);
  }

  protected async end(reason: 'cancelled' | 'failed', message: string): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    if (this.dialogue !== undefined && this.dialogue.answer === undefined) {
      await this.dialogue.abandon(reason, message);
    }
  }

  protected start(): Promise<Dialogue> {
    const { plan } = this;
    plan.counts.begun++;
    const { kind, name } = plan.simulator;
    return Dialogue.start({
      ...plan,
      ...this.chosen,
      ...this.numbers,
      id: this.id,
      protocol: this.protocol,
      collaborator: { kind, name },
    });
  }

  /** Graded even when the client has disconnected: an answer in the log has its grade there too. */
  protected async graded(
    dialogue: Dialogue,
    told: Partial<ObservationMetadata> = {},
  ): Promise<EpisodeObservation> {
    const grade = await dialogue.grade(this.plan.grader, this.plan.mode);
    this.isOver = true;
    this.plan.counts.graded++;
    const { agent } = dialogue.turns.at(-1)!;
    const metadata = this.metadata({ ended: this.endingOf(agent), ...told, ...gradeWords(grade) });
    return { message: '', turn: agent.turn, done: true, reward: grade.reward, metadata };
  }

  private endingOf({ text, turn }: Turn['agent']): ObservationMetadata['ended'] {
    if (parseAgentMessage(text).answer !== undefined) return 'answered';
    return turn >= this.protocol.maxTurns ? 'turn-limit' : 'context-limit';
  }

  protected get protocol(): Protocol {
    const { protocol, pageProtocol } = this.plan;
    return isProgram(this.chosen.task) ? protocol : pageProtocol;
  }

  protected metadata(more: Partial<ObservationMetadata>): ObservationMetadata {
    const { id, chosen, numbers, protocol } = this;
    return {
      episode: id,
      task: chosen.task.id,
      pack: chosen.pack ?? null,
      seed: numbers.seed,
      turn_limit: protocol.maxTurns,
      reply_limit: protocol.replyLimit,
      ...more,
    };
  }
}

function gradeWords({ mode, success, tests, page, notGradable }: Grade): Partial<ObservationMetadata> {
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const scored = page && { measure: page.measure, measure_version: page.version, renderer: page.renderer };
  return { mode, success, tests: tests.length, tests_passed: passed, not_gradable: notGradable, ...scored };
}

/**
 * @throws {Fault} `environment/unknown-task`, `environment/unknown-split`; `environment/over` when the history ends the
 * episode, `environment/no-history` where the client is the collaborator
 */
export function beginEpisode(plan: EnvironmentPlan, request: ResetRequest): ServedEpisode {
  const chosen = plan.splits.choose(request);
  const rollout = plan.rollouts.get(chosen.task.id) ?? 0;
  plan.rollouts.set(chosen.task.id, rollout + 1);
  const seed = request.seed ?? deriveSeed(plan.seed, chosen.task.id, rollout);
  const name = request.episode_id ?? undefined;
  const history = request.history ?? undefined;
  if (plan.seat === 'agent') return new AgentEpisode(plan, chosen, { seed, rollout }, name, history);
  if (history === undefined) return new CollaboratorEpisode(plan, chosen, { seed, rollout }, name);
  throw new Fault(
    'environment/no-history',
    'An episode of the collaborator cannot go on from a history: leave it out.',
  );
}

/**
 * The client is the agent. The log records the episode from its first message on, so that a client that only looks at
 * the request leaves nothing behind. It does not record an episode that goes on from a history.
 */
export class AgentEpisode extends ServedEpisode {
  /** @throws {Fault} `environment/over` */
  constructor(
    plan: EnvironmentPlan,
    chosen: PackTask,
    numbers: EpisodeNumbers,
    name: string | undefined,
    private readonly history: NonNullable<ResetRequest['history']> | undefined,
  ) {
    super(plan, chosen, numbers, name);
    this.requireOpen();
  }

  private requireOpen(): void {
    const { protocol, history = [] } = this;
    const last = history.findIndex(
      ({ agent: text }, index) => endingAfter({ episode: '', text, turn: index + 1 }, protocol) !== undefined,
    );
    if (last === -1) return;
    throw new Fault(
      'environment/over',
      `Message ${last + 1} of the history ends the episode: leave it out, and what follows it.`,
    );
  }

  override open(): Promise<EpisodeObservation> {
    const { id, protocol, numbers } = this;
    const { task } = this.chosen;
    const { messages } = requestAfter([], this.plan, { id, task, protocol, ...numbers });
    return Promise.resolve({
      message: task.description,
      turn: this.history?.length ?? 0,
      done: false,
      reward: null,
      metadata: this.metadata({}),
      prompt: messages[0]!.content,
    });
  }

  protected override async answered(action: AgentAction, signal?: AbortSignal): Promise<EpisodeObservation> {
    const dialogue = (this.dialogue ??= await this.start());
    await dialogue.agentSaid(textOf(action));
    this.steps++;
    if (dialogue.next === 'nobody') return this.graded(dialogue);
    const turn = await dialogue.simulatorReply({ signal });
    if (dialogue.answer === undefined) return this.replied(turn);
    return this.graded(dialogue, { ended: 'ended-by-simulator', leak: leakWords(turn.leak) });
  }

  protected override start(): Promise<Dialogue> {
    const { plan, protocol, history } = this;
    if (history === undefined) return super.start();
    plan.counts.begun++;
    const position = { task: this.chosen.task, protocol, turns: turnsOf(history) };
    return dialogueAfter(position, this.numbers.seed, plan);
  }

  private replied({ agent, reply, leak }: Turn): EpisodeObservation {
    const { promptTokens, completionTokens } = reply?.usage ?? {};
    const metadata = this.metadata({
      leak: leakWords(leak),
      usage:
        promptTokens === undefined || completionTokens === undefined
          ? undefined
          : { prompt_tokens: promptTokens, completion_tokens: completionTokens },
    });
    return { message: reply!.text, turn: agent.turn, done: false, reward: 0, metadata };
  }
}

/** The client is the collaborator of an agent that plays here and speaks first. */
class CollaboratorEpisode extends ServedEpisode {
  override open(signal?: AbortSignal): Promise<EpisodeObservation> {
    return this.orEnd(async () => {
      this.dialogue = await this.start();
      return this.agentSays(null, undefined, signal);
    }, signal);
  }

  protected override async answered(
    { message }: AgentAction,
    signal?: AbortSignal,
  ): Promise<EpisodeObservation> {
    if (replyIn(message) === '') return this.silent();
    const { leak } = await this.dialogue!.simulatorSaid(message);
    this.steps++;
    return this.agentSays(0, leak, signal);
  }

  /** @param leak of the reply that the agent answers */
  private async agentSays(
    reward: EpisodeObservation['reward'],
    leak?: Turn['leak'],
    signal?: AbortSignal,
  ): Promise<EpisodeObservation> {
    const dialogue = this.dialogue!;
    await dialogue.agentTurnOrEnd({ signal });
    if (dialogue.next === 'nobody') return this.graded(dialogue, { leak: leakWords(leak) });
    const { task, turns, protocol } = dialogue;
    const { agent } = turns.at(-1)!;
    return {
      message: parseAgentMessage(agent.text).visible,
      turn: agent.turn,
      done: false,
      reward,
      metadata: this.metadata({ leak: leakWords(leak) }),
      prompt: simulatorMessages(task, turns, protocol, this.plan.prompts)[0]!.content,
    };
  }

  /** A collaborator that says nothing fails its dialogue; an error would let it leave one that goes badly. */
  private async silent(): Promise<EpisodeObservation> {
    await this.end('failed', 'The reply is empty.');
    const turn = this.dialogue!.turns.length;
    const metadata = this.metadata({ ended: 'empty-reply', success: false });
    return { message: '', turn, done: true, reward: 0, metadata };
  }
}

const leakWords = (leak: Turn['leak']): ObservationMetadata['leak'] =>
  leak && { fraction: leak.fraction, leaked: leak.leaked };
