import { z } from 'zod';
import { Fault } from '../fault';
import type { CallOutcome } from './runner';

/** What evaluation.py writes for one call; the text comes out of an untrusted interpreter. */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('value'),
    canonical: z.string().max(10_000).nullable(),
    none: z.boolean(),
    display: z.string().max(2_000),
  }),
  z.object({
    kind: z.literal('error'),
    type: z.string().max(100),
    message: z.string().max(1_000),
    line: z.int().optional(),
    missingModule: z.string().max(100).optional(),
  }),
]);

/**
 * Reads the outcome of one call.
 * @param milliseconds time the call took, measured by the runner
 * @throws Fault when the text is nothing that evaluation.py writes: the code has tampered with its interpreter
 */
export function readOutcome(text: string, milliseconds: number): CallOutcome {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Fault('grading/tampered', 'The code has tampered with its interpreter.', { cause: error });
  }
  const parsed = outcomeSchema.safeParse(value);
  if (!parsed.success) {
    throw new Fault('grading/tampered', 'The code has tampered with its interpreter.', {
      cause: parsed.error,
    });
  }
  const { data } = parsed;
  if (data.kind === 'value') return { ...data, milliseconds };
  return {
    kind: 'error',
    type: data.type,
    message: data.message,
    ...(data.line === undefined ? {} : { line: data.line }),
    ...(data.missingModule === undefined ? {} : { missingModule: data.missingModule }),
  };
}
