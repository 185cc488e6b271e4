import * as z from 'zod';
import { Fault } from '../fault';
import { jsonOrUndefined } from '../json';
import { printable } from '../text';
import type { CallOutcome, Reply } from './runner';

export const questionSchema = z.object({
  number: z.int(),
  text: z.string().max(70_000),
  names: z.array(z.string()),
  values: z.array(z.string()),
});

export const valueSchema = z.object({
  kind: z.literal('value'),
  canonical: z.string().max(10_000).nullable(),
  none: z.boolean(),
  display: z.string().max(2_000),
  compared: z.literal(true).exactOptional(),
  decides: z.literal(true).exactOptional(),
  comparison: z
    .object({
      call: z.string().max(10_000),
      gave: z.string().max(10_000),
      equal: z.boolean(),
      with: z.object({ canonical: z.string().max(10_000), display: z.string().max(2_000) }),
    })
    .exactOptional(),
});

export const errorSchema = z.object({
  kind: z.literal('error'),
  type: z.string().max(100),
  message: z.string().max(1_000),
  line: z.int().exactOptional(),
  missingModule: z.string().max(100).exactOptional(),
});

/** Outcome of an expression as evaluation.py writes it; the text comes out of an untrusted interpreter. */
const outcomeSchema = z.discriminatedUnion('kind', [valueSchema, errorSchema]);

const replySchema = z.union([
  outcomeSchema,
  z.object({
    kind: z.literal('told'),
    results: z.array(z.union([z.object({ data: z.string() }), z.object({ outcome: outcomeSchema })])),
  }),
  z.object({ kind: z.literal('need'), at: z.int(), question: questionSchema }),
]);

export const tampered: CallOutcome = {
  kind: 'error',
  type: 'InterpreterCrash',
  message: 'The code has tampered with its interpreter.',
};

export function plainOutcome(reply: Reply): CallOutcome {
  return reply.kind === 'told' || reply.kind === 'need' ? tampered : reply;
}

/** Compares canonical texts: of the two lines that a text may have, the first or the second has to be the same. */
export function areEqual(one: string, other: string): boolean {
  const [plain, counting] = one.split('\n');
  const [otherPlain, otherCounting] = other.split('\n');
  return plain === otherPlain || (counting !== undefined && counting === otherCounting);
}

/**
 * Reads what one call gave, for every runner. The texts in the result can be shown anywhere.
 * @param milliseconds time the call took, measured by the runner
 * @throws Fault when evaluation.py cannot have written the text: the code has tampered with its interpreter
 */
export function readOutcome(text: string, milliseconds: number): Reply {
  const parsed = replySchema.safeParse(jsonOrUndefined(text));
  if (!parsed.success)
    throw new Fault('grading/tampered', 'The code has tampered with its interpreter.', {
      cause: parsed.error,
    });
  const { data } = parsed;
  if (data.kind === 'need') return data;
  if (data.kind !== 'told') return shownOutcome(data, milliseconds);
  const results = data.results.map((result) =>
    'data' in result ? result : { outcome: shownOutcome(result.outcome, milliseconds) },
  );
  return { kind: 'told', results, milliseconds };
}

function shownOutcome(data: z.infer<typeof outcomeSchema>, milliseconds: number): CallOutcome {
  if (data.kind === 'error')
    return { ...data, type: printable(data.type), message: printable(data.message, '\n\t') };
  const { comparison, display, ...value } = data;
  const shown = { ...value, display: printable(display), milliseconds };
  if (comparison === undefined) return shown;
  const other = { ...comparison.with, display: printable(comparison.with.display) };
  return { ...shown, comparison: { ...comparison, with: other } };
}
