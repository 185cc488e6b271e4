/** Guides the choice between questions by the difference that the hidden information makes (docs/methods.md). */
export interface Guide<Prompt> {
  /** With the hidden information in front. */
  readonly prompt: Prompt;
  /** How strongly it guides; 0: not at all. */
  readonly eta: number;
}

const OUTPUT = 'OUTPUT:';
const ANSWER = 'I WANT TO ANSWER';

/** True while a message has said nothing yet but its `OUTPUT:`. guidance.py of the trainer has the same. */
export const isOpening = (text: string): boolean => OUTPUT.startsWith(text.trim());

/** True for the text of a token with which an answer may begin. guidance.py of the trainer has the same. */
export function mayBeginAnswer(text: string): boolean {
  const trimmed = text.trimStart();
  const said = (trimmed.startsWith(OUTPUT) ? trimmed.slice(OUTPUT.length) : trimmed).trim();
  return said !== '' && (ANSWER.startsWith(said) || said.startsWith(ANSWER));
}

/** One entry per token of the vocabulary: 1 where an answer may begin with it. */
export function answerTokens(vocabulary: number, textOf: (id: number) => string): Uint8Array {
  return Uint8Array.from({ length: vocabulary }, (_, id) => Number(mayBeginAnswer(textOf(id))));
}

/** A question whose token is less likely than this fraction of the likeliest is not raised; losses.py has the same. */
const PLAUSIBLE = 0.01;

/**
 * Logits of π(v) ∝ exp(plain + η (told − plain)) among the tokens of questions. Tokens of answers keep the probability
 * that they have without the hidden information, and so do all questions together. A token that is implausible with it,
 * too, is never raised: the ratio of two tiny probabilities says nothing, and η amplifies it.
 */
export function guidedLogits(
  plain: Float32Array,
  told: Float32Array,
  answers: Uint8Array,
  eta: number,
): Float32Array {
  const none = new Uint8Array(plain.length);
  const [ofTold, ofPlain] = [logSum(told, none), logSum(plain, none)];
  const leastPlausible = largestOf(told, answers) + Math.log(PLAUSIBLE);
  const tilted = plain.map((logit, id) => {
    if (answers[id] === 1) return logit;
    const tilt = eta * (told[id]! - ofTold - (logit - ofPlain));
    return logit + (told[id]! < leastPlausible ? Math.min(0, tilt) : tilt);
  });
  const shift = logSum(plain, answers) - logSum(tilted, answers);
  return tilted.map((logit, id) => (answers[id] === 1 ? logit : logit + shift));
}

function largestOf(logits: Float32Array, left: Uint8Array): number {
  let largest = -Infinity;
  for (let id = 0; id < logits.length; id++) if (left[id] === 0) largest = Math.max(largest, logits[id]!);
  return largest;
}

/** @param left 1 for tokens that are left out */
function logSum(logits: Float32Array, left: Uint8Array): number {
  const largest = largestOf(logits, left);
  let sum = 0;
  for (let id = 0; id < logits.length; id++) if (left[id] === 0) sum += Math.exp(logits[id]! - largest);
  return largest + Math.log(sum);
}
