import * as z from 'zod';
import { Fault } from '../fault';
import { printable } from '../printable';
import type { CallOutcome } from './runner';

/** What is said of a value when the call compares. */
export const comparedSchema = {
  compared: z.literal(true).exactOptional(),
  comparison: z
    .object({
      call: z.string().max(10_000),
      equal: z.boolean(),
      with: z.object({ canonical: z.string().max(10_000), display: z.string().max(2_000) }),
    })
    .exactOptional(),
};

/** What evaluation.py writes for one call; the text comes out of an untrusted interpreter. */
const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('value'),
    canonical: z.string().max(10_000).nullable(),
    none: z.boolean(),
    display: z.string().max(2_000),
    ...comparedSchema,
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
 * Reads the outcome of one call, for every runner: what it says can be shown anywhere.
 * @param milliseconds time the call took, measured by the runner
 * @throws Fault when the text is nothing that evaluation.py writes: the code has tampered with its interpreter
 */
export function readOutcome(text: string, milliseconds: number): CallOutcome {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (error) {
    throw new Fault('grading/tampered', 'The code has tampered with its interpreter.', { cause: error });
  }
  const parsed = outcomeSchema.safeParse(given);
  if (!parsed.success) {
    throw new Fault('grading/tampered', 'The code has tampered with its interpreter.', {
      cause: parsed.error,
    });
  }
  const { data } = parsed;
  if (data.kind === 'value') {
    const { comparison, display, ...value } = data;
    const shown = { ...value, display: printable(display), milliseconds };
    if (comparison === undefined) return shown;
    const other = { ...comparison.with, display: printable(comparison.with.display) };
    return { ...shown, comparison: { ...comparison, with: other } };
  }
  return {
    kind: 'error',
    type: printable(data.type),
    message: printable(data.message, '\n\t'),
    ...(data.line === undefined ? {} : { line: data.line }),
    ...(data.missingModule === undefined ? {} : { missingModule: data.missingModule }),
  };
}
