import type { GenerateOptions, Generation, HiddenInformation, Model, SamplingSettings } from '../model/model';
import { isProgram, type Task } from '../task/task';
import type { Candidate, EventOf, Picked } from '../trajectory/event';
import type { Turn } from '../trajectory/trajectory';
import { agentMessages } from './conversation';
import type { Prompts } from './prompts';
import { type Protocol, parseAgentMessage } from './protocol';
import { deriveSeed } from '../seed';

interface Speaker {
  readonly agent: Model;
  readonly prompts: Prompts;
  readonly sampling: SamplingSettings;
}

interface Setting {
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
function generated(
  generation: Generation,
  { name, terms }: Model,
  settings: SamplingSettings,
): Omit<Candidate, 'agent'> {
  const { servedModel, serverSampling, ...said } = generation;
  return { ...said, model: servedModel ?? name, terms, sampling: { ...settings, server: serverSampling } };
}

/** Set only if the server reports another name. */
function askedFor({ name }: Model, { model }: Pick<Candidate, 'model'>): { agent?: string } {
  return model === name ? {} : { agent: name };
}

export type SampledAgent = Pick<Speaker, 'agent' | 'sampling'>;

export interface CandidateOptions {
  /** Agent that writes the other candidate; without it the dialogue's own agent writes both. */
  readonly rival?: SampledAgent;
  readonly signal?: AbortSignal;
}

/**
 * Samples two candidates at once, each with its own seed. The dialogue's seed draws their order, so that the position
 * does not tell who wrote which. Neither is shown before both are written, so that the time does not tell either.
 *
 * @param before the turns that they follow, all with a reply
 * @param refused number of pairs of candidates refused for this turn before
 * @throws the error of the first to fail; the other is stopped
 */
export async function drawCandidates(
  speaker: Speaker,
  setting: Setting,
  before: readonly Turn[],
  refused: number,
  { rival, signal }: CandidateOptions,
): Promise<[Candidate, Candidate]> {
  const { messages, position } = requestAfter(before, speaker, setting);
  const drawn = ['candidate', position.turn, refused] as const;
  const failure = new AbortController();
  const either = signal === undefined ? failure.signal : AbortSignal.any([signal, failure.signal]);
  const swapped = deriveSeed(setting.seed, 'order', ...drawn) % 2 === 1;
  const draw = async (place: 0 | 1): Promise<Candidate> => {
    const which = swapped ? 1 - place : place;
    const { agent, sampling } = which === 1 && rival !== undefined ? rival : speaker;
    const settings = { ...sampling, seed: deriveSeed(setting.seed, ...drawn, which) };
    try {
      const generation = await agent.generate(messages, settings, {
        signal: either,
        position,
      });
      return { agent: agent.name, ...generated(generation, agent, settings) };
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  const [first, second] = await Promise.allSettled([draw(0), draw(1)]);
  signal?.throwIfAborted();
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  throw failure.signal.reason;
}

export function lookAlike(candidates: readonly [Candidate, Candidate]): boolean {
  const [first, second] = candidates.map(({ text }) => parseAgentMessage(text));
  return first!.visible === second!.visible && first!.answer === second!.answer;
}

/** If the person found both equal it is the first shown, which is a random one, since their order was drawn. */
export function goesOnWith(
  { candidates }: EventOf<'candidates'>,
  picked: Exclude<Picked, 'neither'>,
): Candidate {
  return candidates[picked === 1 ? 1 : 0];
}
