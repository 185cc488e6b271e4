import { Fault } from '../../fault';
import type { SamplingSettings } from '../model';

export interface LikelyToken {
  readonly id: number;
  /** Natural, under the model itself, before temperature, min-p, top-k and top-p. */
  readonly logprob: number;
}

interface SampledToken extends LikelyToken {
  /** The most likely first; absent unless requested. */
  readonly alternatives?: readonly LikelyToken[];
}

/**
 * For one turn. The random numbers depend only on the seed and the number of tokens chosen before, so other turns
 * computed at the same time have no influence.
 */
export class Sampler {
  readonly #seed: number;
  #chosen = 0;

  /** @param alternatives the most likely tokens to list with each chosen one */
  constructor(
    private readonly settings: Omit<SamplingSettings, 'maxTokens' | 'stop'>,
    private readonly alternatives = 0,
  ) {
    this.#seed = settings.seed ?? Math.floor(Math.random() * 2 ** 31);
  }

  /** True if the probabilities under the model itself are all that it needs. */
  get isPlain(): boolean {
    const { temperature, minP = 0, topP = 1, topK = 0 } = this.settings;
    return (temperature === 1 && minP === 0 && topP === 1 && topK === 0) || temperature === 0;
  }

  /**
   * For a sampler that `isPlain`.
   * @param probabilities one per token of the vocabulary
   * @throws {Fault} `model/not-finite`
   */
  chooseByProbability(probabilities: Float32Array): SampledToken {
    const likely = (id: number): LikelyToken => ({ id, logprob: Math.log(probabilities[id]!) });
    const alternatives =
      this.alternatives === 0 ? undefined : mostLikely(probabilities, this.alternatives).map(likely);
    return { ...likely(this.#drawn(probabilities)), alternatives };
  }

  #drawn(probabilities: Float32Array): number {
    if (Number.isNaN(probabilities[0]!)) throw notFinite();
    if (this.settings.temperature === 0) return argmax(probabilities);
    let left = uniformAt(this.#seed, this.#chosen++);
    for (let id = 0; id < probabilities.length; id++) {
      left -= probabilities[id]!;
      if (left < 0) return id;
    }
    // They sum to 1 within 1e-6.
    return argmax(probabilities);
  }

  /**
   * @param logits one per token of the vocabulary
   * @throws {Fault} `model/not-finite` if they do not define a distribution
   */
  choose(logits: Float32Array): SampledToken {
    const best = argmax(logits);
    const largest = logits[best]!;
    const weights = scratch(logits.length);
    const total = exponentials(logits, largest, 1, weights);
    if (!Number.isFinite(total)) throw notFinite();
    const likely = (id: number): LikelyToken => ({ id, logprob: logits[id]! - largest - Math.log(total) });
    const alternatives =
      this.alternatives === 0 ? undefined : mostLikely(weights, this.alternatives).map(likely);
    const id = this.settings.temperature === 0 ? best : this.#draw(logits, largest, weights, total);
    return { ...likely(id), alternatives };
  }

  #draw(logits: Float32Array, largest: number, weights: Float64Array, total: number): number {
    const { temperature, minP = 0, topP = 1, topK = 0 } = this.settings;
    const all = temperature === 1 ? total : exponentials(logits, largest, temperature, weights);
    const sum = minP > 0 ? dropBelow(weights, minP) : all;
    const uniform = uniformAt(this.#seed, this.#chosen++);
    if (topK > 0 && topK < weights.length) {
      const best = mostLikely(weights, topK);
      const ofBest = best.reduce((share, token) => share + weights[token]!, 0);
      return drawFromNucleus(weights, best, topP * ofBest, uniform);
    }
    if (topP < 1) return drawFromNucleus(weights, nucleusCandidates(weights, sum, topP), topP * sum, uniform);
    let left = uniform * sum;
    for (let id = 0; id < weights.length; id++) {
      left -= weights[id]!;
      if (left < 0) return id;
    }
    return argmax(logits);
  }
}

const notFinite = (): Fault =>
  new Fault(
    'model/not-finite',
    'The model computes logits that are not finite: its weights are damaged, or too large for this precision. Copy or export the model again, or take another precision.',
  );

/** Sets smaller weights to 0. Returns the sum of the others. The largest weight is 1, so this is min-p. */
function dropBelow(weights: Float64Array, least: number): number {
  let sum = 0;
  for (let id = 0; id < weights.length; id++) {
    if (weights[id]! < least) weights[id] = 0;
    sum += weights[id]!;
  }
  return sum;
}

/**
 * Draws from the fewest tokens of `order` with weights that sum to at least `enough`.
 * @param order token ids, the most likely first
 */
function drawFromNucleus(
  weights: Float64Array,
  order: readonly number[],
  enough: number,
  uniform: number,
): number {
  let kept = 0;
  let size = 0;
  while (size < order.length && kept < enough) kept += weights[order[size++]!]!;
  let left = uniform * kept;
  for (let index = 0; index < size; index++) {
    left -= weights[order[index]!]!;
    if (left < 0) return order[index]!;
  }
  return order[0]!;
}

/** The most likely first; ties are in vocabulary order. */
function mostLikely(weights: Float32Array | Float64Array, count: number): number[] {
  const byWeight = (a: number, b: number): number => weights[b]! - weights[a]! || a - b;
  const best: number[] = [];
  let least = -1;
  for (let id = 0; id < weights.length; id++) {
    if (weights[id]! <= least) continue;
    best.push(id);
    // Sorting waits until there are twice as many as needed, so that a large top-k costs no more than one long sort.
    if (best.length < 2 * count) continue;
    best.sort(byWeight).length = count;
    least = weights[best.at(-1)!]!;
  }
  return best.sort(byWeight).slice(0, count);
}

/**
 * The most likely first. Omits tokens so unlikely that all of them together lie outside the nucleus, which saves
 * sorting.
 */
function nucleusCandidates(weights: Float64Array, total: number, topP: number): number[] {
  const least = ((1 - topP) * total) / weights.length;
  const candidates: number[] = [];
  for (let id = 0; id < weights.length; id++) if (weights[id]! >= least) candidates.push(id);
  return candidates.sort((a, b) => weights[b]! - weights[a]! || a - b);
}

function argmax(logits: Float32Array): number {
  let best = 0;
  for (let id = 1; id < logits.length; id++) if (logits[id]! > logits[best]!) best = id;
  return best;
}

/** Parts of one in the exponent that the table below distinguishes. */
const PART_BITS = 11;
const PARTS = 1 << PART_BITS;
const WHOLE = Float64Array.from({ length: 746 }, (_, power) => Math.exp(-power));
const PART = Float64Array.from({ length: PARTS }, (_, part) => Math.exp(-part / PARTS));

/**
 * Writes exp((logit − largest) / temperature) of each token into `weights`. Returns their sum. By a table and two terms
 * of the series, to a relative error of 2e-11, because `Math.exp` takes four times as long.
 */
function exponentials(
  logits: Float32Array,
  largest: number,
  temperature: number,
  weights: Float64Array,
): number {
  const scale = PARTS / temperature;
  let sum = 0;
  for (let id = 0; id < logits.length; id++) {
    const place = (largest - logits[id]!) * scale;
    let weight = 0;
    // Turned around so that a logit that is not a number makes the sum none, either.
    if (!(place >= WHOLE.length * PARTS)) {
      const whole = place | 0;
      const rest = (place - whole) / PARTS;
      weight = WHOLE[whole >> PART_BITS]! * PART[whole & (PARTS - 1)]! * (1 - rest * (1 - rest / 2));
    }
    weights[id] = weight;
    sum += weight;
  }
  return sum;
}

let kept = new Float64Array(0);

/** Reused for all draws, because a vocabulary may have a hundred thousand tokens. */
function scratch(length: number): Float64Array {
  if (kept.length !== length) kept = new Float64Array(length);
  return kept;
}

/** In [0, 1), determined by both arguments: the finaliser of MurmurHash3 in two rounds. */
function uniformAt(seed: number, index: number): number {
  return mix(mix(seed ^ 0x9e3779b9) + Math.imul(index + 1, 0x85ebca6b)) / 2 ** 32;
}

function mix(value: number): number {
  let bits = value | 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
