import type { GenerateOptions, Generation, HiddenInformation, Model, SamplingSettings } from '../model/model';
import { isProgram, type Task } from '../task/task';
import type { Candidate, EventOf } from '../trajectory/event';
import type { Turn } from '../trajectory/trajectory';
import { agentMessages } from './conversation';
import type { Prompts } from './prompts';
import type { Protocol } from './protocol';
import { deriveSeed } from '../seed';

export interface Speaker {
  readonly agent: Model;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
}

export interface Setting {
  readonly id: string;
  readonly task: Task;
  readonly protocol: Protocol;
  readonly seed: number;
}

export type AgentTurnEvent = Omit<EventOf<'agent-turn'>, 'version' | 'at'>;

/**
 * @param before the turns that it follows, all with a reply
 * @param sample number of this sample of the message, from 1; each has a seed of its own
 */
export async function sampleAgent(
  speaker: Speaker,
  setting: Setting,
  before: readonly Turn[],
  sample: number,
  options: GenerateOptions,
): Promise<AgentTurnEvent> {
  const { agent, sampling } = speaker;
  const { messages, position } = requestAfter(before, speaker, setting);
  const { turn } = position;
  const which = sample === 1 ? [turn] : [turn, sample];
  const settings = { ...sampling, seed: deriveSeed(setting.seed, 'agent', ...which) };
  const hidden = agent.seesHidden && hiddenIn(setting.task);
  const generation = await agent.generate(messages, settings, { ...options, position, hidden });
  options.signal?.throwIfAborted();
  const said = generated(generation, agent, settings);
  return { event: 'agent-turn', episode: setting.id, turn, ...said, ...askedFor(agent, said) };
}

const hiddenIn = (task: Task): HiddenInformation =>
  isProgram(task)
    ? { text: task.hiddenInformation, kind: 'program' }
    : { text: task.reference, kind: 'page' };

export function requestAfter(
  before: readonly Turn[],
  { prompts }: Pick<Speaker, 'prompts'>,
  { task, protocol }: Setting,
) {
  return {
    messages: agentMessages(task, before, protocol, prompts),
    position: {
      description: task.description,
      turn: before.length + 1,
      turnsLeft: protocol.maxTurns - before.length - 1,
    },
  };
}

/**
 * The part of a generated message that the log keeps. `sampling` holds the requested settings, seed included, and what
 * the server made of them.
 */
export function generated(
  generation: Generation,
  { name, terms }: Model,
  settings: SamplingSettings,
): Omit<Candidate, 'agent'> {
  const { text, reasoning, finishReason, timing, tokens, promptTokenIds, usage } = generation;
  const { servedModel, sawHidden, selection } = generation;
  const model = servedModel ?? name;
  const sampling = { ...settings, server: generation.serverSampling };
  return {
    text,
    reasoning,
    finishReason,
    model,
    terms,
    sampling,
    tokens,
    promptTokenIds,
    usage,
    timing,
    sawHidden,
    selection,
  };
}

/** Set only if the server reports another name. */
function askedFor({ name }: Model, { model }: Pick<Candidate, 'model'>): { agent?: string } {
  return model === name ? {} : { agent: name };
}
