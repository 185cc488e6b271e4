import type { PackTask } from '../dialogue/collect';
import { simulatorMessages } from '../dialogue/conversation';
import type { Dialogue } from '../dialogue/dialogue';
import { parseAgentMessage } from '../dialogue/protocol';
import { requestAfter } from '../dialogue/sample';
import { replyIn } from '../dialogue/simulator';
import { endingAfter } from '../dialogue/state';
import { Fault } from '../fault';
import { deriveSeed } from '../seed';
import { turnsOf } from '../training/credit/playedCredit';
import { dialogueAfter } from '../training/credit/rollouts';
import type { Turn } from '../trajectory/trajectory';
import { ServedEpisode, type EnvironmentPlan, type EpisodeNumbers } from './episode';
import {
  textOf,
  type AgentAction,
  type EpisodeObservation,
  type ObservationMetadata,
  type ResetRequest,
} from './messages';

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
class AgentEpisode extends ServedEpisode {
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
    return this.replied(await dialogue.simulatorReply({ signal }));
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
