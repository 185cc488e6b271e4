import type { Generation, Model, SamplingSettings } from '../model/model';
import type { Candidate } from '../trajectory/event';

/** What the log keeps of a generated message. `sampling` is what it was asked for with, its seed included. */
export function generated(
  generation: Generation,
  { name }: Model,
  sampling: SamplingSettings,
): Omit<Candidate, 'agent'> {
  const { text, reasoning, finishReason, timing, tokens, promptTokenIds, usage, servedModel } = generation;
  const model = servedModel ?? name;
  return { text, reasoning, finishReason, model, sampling, tokens, promptTokenIds, usage, timing };
}
