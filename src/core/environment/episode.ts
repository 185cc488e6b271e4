import { randomUUID } from 'node:crypto';
import { Dialogue } from '../dialogue/dialogue';
import type { PackTask } from '../dialogue/collect';
import type { DialogueParts, DialogueRecord } from '../dialogue/dialogueParts';
import { parseAgentMessage, type Protocol } from '../dialogue/protocol';
import type { Prompts } from '../dialogue/prompts';
import { requestAfter } from '../dialogue/sample';
import { deriveSeed } from '../seed';
import type { Simulator } from '../dialogue/simulator';
import { endingAfter } from '../dialogue/state';
import { Fault, messageOf } from '../fault';
import type { Grade, GradingMode } from '../grading/grade';
import type { Grader } from '../grading/grader';
import type { Model } from '../model/model';
import { isProgram } from '../task/task';
import type { Turn } from '../trajectory/trajectory';
import { turnsOf } from '../training/credit/playedCredit';
import { dialogueAfter } from '../training/credit/rollouts';
import type { TaskSplits } from './splits';
import {
  textOf,
  type AgentAction,
  type EnvironmentState,
  type EpisodeObservation,
  type ObservationMetadata,
  type ResetRequest,
} from './messages';

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

/** The client samples, so the log does not record it. */
export const samplingElsewhere = { temperature: 1, maxTokens: 0 };

/**
 * The log records the episode from the first message of the agent on, so that a client that only looks at the request
 * leaves nothing behind. It does not record an episode that goes on from a history.
 * @throws {Fault} `environment/unknown-task`, `environment/unknown-split`; `environment/over` when the history ends it
 */
export function beginEpisode(plan: EnvironmentPlan, request: ResetRequest): ServedEpisode {
  const chosen = plan.splits.choose(request);
  const rollout = plan.rollouts.get(chosen.task.id) ?? 0;
  plan.rollouts.set(chosen.task.id, rollout + 1);
  const seed = request.seed ?? deriveSeed(plan.seed, chosen.task.id, rollout);
  const { episode_id: name, history } = request;
  const episode = new ServedEpisode(plan, chosen, { seed, rollout }, name ?? undefined, history ?? undefined);
  episode.requireOpen();
  return episode;
}

/** One dialogue; the client is the agent. Its steps must not overlap. */
export class ServedEpisode {
  private readonly id = randomUUID();
  private dialogue: Dialogue | undefined;
  private isOver = false;
  private steps = 0;

  constructor(
    private readonly plan: EnvironmentPlan,
    private readonly chosen: PackTask,
    private readonly numbers: { readonly seed: number; readonly rollout: number },
    private readonly name: string | undefined,
    private readonly history?: NonNullable<ResetRequest['history']>,
  ) {}

  /** @throws {Fault} `environment/over` */
  requireOpen(): void {
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

  get state(): EnvironmentState {
    const { name, id, steps, isOver } = this;
    return { episode_id: name ?? id, step_count: steps, task: this.chosen.task.id, done: isOver };
  }

  get opening(): EpisodeObservation {
    const { id, protocol, numbers } = this;
    const { task } = this.chosen;
    const { messages } = requestAfter([], this.plan, { id, task, protocol, ...numbers });
    return {
      message: task.description,
      turn: this.history?.length ?? 0,
      done: false,
      reward: null,
      metadata: this.metadata({}),
      prompt: messages[0]!.content,
    };
  }

  /**
   * Resolves with the developer's reply or, when the message ends the episode, the grade.
   * @throws {Fault} `environment/over`; errors of the simulator, the grader and the log, after logging them: then the
   * episode is over
   * @throws the signal's reason when it is aborted
   */
  async step(action: AgentAction, signal?: AbortSignal): Promise<EpisodeObservation> {
    if (this.isOver) throw new Fault('environment/over', 'The episode is over; send reset to begin another.');
    const text = textOf(action);
    try {
      const dialogue = (this.dialogue ??= await this.start());
      const turn = await dialogue.agentSaid(text);
      this.steps++;
      if (dialogue.next === 'nobody') return await this.graded(dialogue, turn);
      return this.replied(await dialogue.simulatorReply({ signal }));
    } catch (error) {
      if (signal?.aborted !== true) await this.end('failed', messageOf(error));
      throw error;
    }
  }

  /** Logs that the episode stopped before its answer, if it did. */
  abandon(why: string): Promise<void> {
    return this.end('cancelled', why);
  }

  private async end(reason: 'cancelled' | 'failed', message: string): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    if (this.dialogue !== undefined && this.dialogue.answer === undefined) {
      await this.dialogue.abandon(reason, message);
    }
  }

  private start(): Promise<Dialogue> {
    const { plan } = this;
    plan.counts.begun++;
    const { protocol, history } = this;
    if (history !== undefined) {
      const start = { task: this.chosen.task, protocol, turns: turnsOf(history) };
      return dialogueAfter(start, this.numbers.seed, { ...plan, sampling: samplingElsewhere });
    }
    const { kind, name } = plan.simulator;
    return Dialogue.start({
      ...plan,
      ...this.chosen,
      ...this.numbers,
      id: this.id,
      protocol,
      sampling: samplingElsewhere,
      collaborator: { kind, name },
    });
  }

  private replied({ agent, reply, leak }: Turn): EpisodeObservation {
    const { promptTokens, completionTokens } = reply?.usage ?? {};
    const metadata = this.metadata({
      leak: leak && { fraction: leak.fraction, leaked: leak.leaked },
      usage:
        promptTokens === undefined || completionTokens === undefined
          ? undefined
          : { prompt_tokens: promptTokens, completion_tokens: completionTokens },
    });
    return { message: reply!.text, turn: agent.turn, done: false, reward: 0, metadata };
  }

  /** Graded even when the client has disconnected: an answer in the log has its grade there too. */
  private async graded(dialogue: Dialogue, { agent }: Turn): Promise<EpisodeObservation> {
    const grade = await dialogue.grade(this.plan.grader, this.plan.mode);
    this.isOver = true;
    this.plan.counts.graded++;
    const ended = parseAgentMessage(agent.text).answer === undefined ? 'turn-limit' : 'answered';
    const metadata = this.metadata({ ended, ...gradeWords(grade) });
    return { message: '', turn: agent.turn, done: true, reward: grade.reward, metadata };
  }

  private get protocol(): Protocol {
    const { protocol, pageProtocol } = this.plan;
    return isProgram(this.chosen.task) ? protocol : pageProtocol;
  }

  private metadata(more: Partial<ObservationMetadata>): ObservationMetadata {
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
