import type { GenerateOptions, Model, SamplingSettings } from '../model/model';
import type { Task } from '../task/task';
import type { EventOf } from '../trajectory/event';
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

/**
 * The agent's next message, as the log takes it.
 * @param before the turns that it follows, all with a reply
 * @param sample which sample of this message, from 1; each has a seed of its own
 */
export async function sampleAgent(
  { agent, prompts, sampling }: Speaker,
  { id, task, protocol, seed }: Setting,
  before: readonly Turn[],
  sample: number,
  options: GenerateOptions,
): Promise<Omit<EventOf<'agent-turn'>, 'version' | 'at'>> {
  const turn = before.length + 1;
  const which = sample === 1 ? [turn] : [turn, sample];
  const settings = { ...sampling, seed: deriveSeed(seed, 'agent', ...which) };
  const messages = agentMessages(task, before, protocol, prompts);
  const position = { description: task.description, turn };
  const generation = await agent.generate(messages, settings, { ...options, position });
  options.signal?.throwIfAborted();
  const { text, reasoning, finishReason, timing, tokens, promptTokenIds, usage, servedModel } = generation;
  return {
    event: 'agent-turn',
    episode: id,
    turn,
    text,
    reasoning,
    finishReason,
    model: servedModel ?? agent.name,
    agent: servedModel === undefined || servedModel === agent.name ? undefined : agent.name,
    terms: agent.terms,
    sampling: settings,
    tokens,
    promptTokenIds,
    usage,
    timing,
  };
}
