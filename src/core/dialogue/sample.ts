import type { GenerateOptions, Generation, Model, SamplingSettings } from '../model/model';
import type { Task } from '../task/task';
import type { Candidate, EventOf } from '../trajectory/event';
import type { Turn } from '../trajectory/trajectory';
import { agentMessages } from './conversation';
import type { Prompts } from './prompts';
import type { Protocol } from './protocol';
import { deriveSeed } from './seed';

/** Who speaks, and how. */
export interface Speaker {
  readonly agent: Model;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
}

/** The dialogue in which the agent speaks. */
export interface Setting {
  readonly id: string;
  readonly task: Task;
  readonly protocol: Protocol;
  readonly seed: number;
}

/** The agent's message, as the log takes it. */
export type Said = Omit<EventOf<'agent-turn'>, 'version' | 'at'>;

/**
 * The agent's next message.
 * @param before the turns that it follows, all with a reply
 * @param sample which sample of this message, from 1; each has a seed of its own
 */
export async function sampleAgent(
  speaker: Speaker,
  setting: Setting,
  before: readonly Turn[],
  sample: number,
  options: GenerateOptions,
): Promise<Said> {
  const { agent, sampling } = speaker;
  const { messages, position } = requestAfter(before, speaker, setting);
  const { turn } = position;
  const which = sample === 1 ? [turn] : [turn, sample];
  const settings = { ...sampling, seed: deriveSeed(setting.seed, 'agent', ...which) };
  const generation = await agent.generate(messages, settings, { ...options, position });
  options.signal?.throwIfAborted();
  const said = generated(generation, agent, settings);
  return { event: 'agent-turn', episode: setting.id, turn, ...said, ...askedFor(agent, said) };
}

/** What the agent is asked after these turns. */
export function requestAfter(
  before: readonly Turn[],
  { prompts }: Pick<Speaker, 'prompts'>,
  { task, protocol }: Setting,
) {
  return {
    messages: agentMessages(task, before, protocol, prompts),
    position: { description: task.description, turn: before.length + 1 },
  };
}

/**
 * The log keeps this of a generated message. `sampling` is what it was asked for with, its seed included, and what the
 * server made of that.
 */
export function generated(
  generation: Generation,
  { name, terms }: Model,
  settings: SamplingSettings,
): Omit<Candidate, 'agent'> {
  const { text, reasoning, finishReason, timing, tokens, promptTokenIds, usage, servedModel } = generation;
  const model = servedModel ?? name;
  const sampling = { ...settings, server: generation.serverSampling };
  return { text, reasoning, finishReason, model, terms, sampling, tokens, promptTokenIds, usage, timing };
}

/** The agent's name as it was asked for, where the server calls it otherwise. */
function askedFor({ name }: Model, { model }: Pick<Candidate, 'model'>): { agent?: string } {
  return model === name ? {} : { agent: name };
}
