import { SAMPLING_ORDER, samplingEntries, type TruncationField } from '../../samplingSettings';

const offValues = Object.fromEntries(
  samplingEntries.flatMap(([, { field, off, serverOff = off }]) =>
    serverOff === undefined ? [] : [[field, serverOff]],
  ),
) as Readonly<Record<TruncationField, number>>;

/**
 * Fields with which servers exclude tokens from sampling or change their probabilities, each with the value that
 * disables it. A server takes fields that are not sent from its own defaults: llama.cpp from its command line, vLLM and
 * SGLang from the model's `generation_config.json`.
 */
export const NEUTRAL = {
  ...offValues,
  typical_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  // This is the name in vLLM and SGLang; llama.cpp and LM Studio say `repeat_penalty`.
  repetition_penalty: 1,
  repeat_penalty: 1,
  mirostat: 0,
  dynatemp_range: 0,
  // llama.cpp applies the listed samplers in this order, and no others. By default its temperature follows its top-p.
  samplers: SAMPLING_ORDER,
} as const;

export type NeutralField = keyof typeof NEUTRAL;

export const NEUTRAL_FIELDS = Object.keys(NEUTRAL) as NeutralField[];

/** Statuses that mean a refused parameter: bad request, OpenAI's "not allowed", validation, not implemented. */
const refusals = new Set([400, 403, 422, 501]);

const refusalWords =
  /unsupported|not support|unused|unrecogni[sz]ed|unknown|unexpected|extra[_ ]|not permitted|not allowed|not available|not enabled|not implemented|invalid (parameter|argument|field)/i;

export function isRefusal(status: number): boolean {
  return refusals.has(status);
}

/** True if the parameter itself is refused, rather than its value. */
export function refusesParameter(answer: string): boolean {
  return refusalWords.test(answer);
}

/** Takes the first one that an answer names and those in the same list, because later ones may be the remedy. */
export function refusedIn<Name extends string>(answer: string, among: readonly Name[]): Name[] {
  const known = new Set<string>(among);
  const words: readonly string[] = answer.match(/\w+/g) ?? [];
  const first = words.findIndex((word) => known.has(word));
  if (first < 0) return [];
  // FastAPI names each in a `loc`, e.g. ["body", "seed"].
  const isLocated = words[first - 1] === 'body';
  const end = endOfList(words, first, known);
  const named = new Set(
    words.filter((_, index) => index >= first && (isLocated ? words[index - 1] === 'body' : index < end)),
  );
  return among.filter((name) => named.has(name));
}

/** The first index after the names that follow each other without other words between. */
function endOfList(words: readonly string[], first: number, known: ReadonlySet<string>): number {
  const after = words.findIndex((word, index) => index > first && word !== 'and' && !known.has(word));
  return after < 0 ? words.length : after;
}
