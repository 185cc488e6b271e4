import { deriveSeed } from '../seed';
import { mulberry32 } from '../random';
import type { TurnScorer } from './local/critic/turnScorer';
import type { MixtureSpec } from './mixtureSpec';
import {
  sumOfCounts,
  sumOfUsage,
  type ChatMessage,
  type GenerateOptions,
  type Generation,
  type Model,
  type ModelCounts,
  type SamplingSettings,
} from './model';

interface Candidate {
  readonly model: Model;
  readonly generation: Generation;
}

/**
 * Each model samples candidates for the turn, a critic scores them, and one is said: Collab (arXiv 2503.21720), by
 * turns in place of tokens. With λ, one is drawn by the policy of LINVIT (arXiv 2402.16181).
 */
export class MixtureModel implements Model {
  readonly #turns = new Map<string, number>();

  /**
   * @param name as on the command line
   * @param models are closed with this one, as the scorer is
   */
  constructor(
    readonly name: string,
    private readonly models: readonly Model[],
    private readonly scorer: TurnScorer,
    private readonly settings: Pick<MixtureSpec, 'n' | 'lambda'>,
  ) {}

  get terms(): string | undefined {
    return this.models.find(({ terms }) => terms !== undefined)?.terms;
  }

  get fingerprint(): string {
    return [...this.models, this.scorer].map(({ fingerprint }) => fingerprint).join(', ');
  }

  get counts(): ModelCounts {
    return sumOfCounts(this.models.flatMap(({ counts }) => counts ?? []));
  }

  get notes(): readonly string[] {
    const shares = [...this.#turns].map(([model, turns]) => `${turns} by ${model}`);
    const chosen =
      shares.length === 0 ? [] : [`${this.name}: turns chosen by the critic: ${shares.join(', ')}.`];
    return [...this.models.flatMap(({ notes }) => notes ?? []), ...chosen];
  }

  async generate(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    options: GenerateOptions = {},
  ): Promise<Generation> {
    const started = performance.now();
    const candidates = await this.#sample(messages, sampling, options);
    const scores = await this.#score(messages, candidates);
    options.signal?.throwIfAborted();
    const { seed = Math.floor(Math.random() * 2 ** 31) } = sampling;
    const place = chooseCandidate(scores, this.settings.lambda, mulberry32(deriveSeed(seed, 'choice'))());
    const { model, generation } = candidates[place]!;
    this.#turns.set(model.name, (this.#turns.get(model.name) ?? 0) + 1);
    options.onText?.(generation.text);
    return {
      ...generation,
      servedModel: nameOf(candidates[place]!),
      selection: {
        place,
        candidates: candidates.map((one, at) => ({ model: nameOf(one), score: scores[at] ?? null })),
      },
      usage: sumOfUsage(candidates.map(({ generation }) => generation)),
      timing: { totalMs: performance.now() - started, attempts: generation.timing.attempts },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.models, this.scorer].map(async (one) => one.close?.()));
  }

  /**
   * The first model's first candidate has the seed of the turn, so that one candidate of one model is what that model
   * says alone. Greedy candidates of a model are equal, so one is enough.
   */
  async #sample(
    messages: readonly ChatMessage[],
    sampling: SamplingSettings,
    { signal, position, onRestart }: GenerateOptions,
  ): Promise<readonly Candidate[]> {
    const { temperature, seed } = sampling;
    const n = temperature === 0 ? 1 : this.settings.n;
    const stop = new AbortController();
    const options = {
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      position,
      onRestart,
    };
    const sample = async (place: number): Promise<Candidate> => {
      const model = this.models[Math.floor(place / n)]!;
      const own = place === 0 || seed === undefined ? seed : deriveSeed(seed, 'candidate', place);
      return { model, generation: await model.generate(messages, { ...sampling, seed: own }, options) };
    };
    try {
      return await Promise.all(Array.from({ length: n * this.models.length }, (_, place) => sample(place)));
    } catch (error) {
      stop.abort();
      throw error;
    }
  }

  /** Equal texts have the score of the first. */
  #score(
    messages: readonly ChatMessage[],
    candidates: readonly Candidate[],
  ): Promise<(number | undefined)[]> {
    const byText = new Map<string, Promise<number | undefined>>();
    for (const { generation } of candidates)
      if (!byText.has(generation.text)) byText.set(generation.text, this.scorer.score(messages, generation));
    return Promise.all(candidates.map(async ({ generation: { text } }) => byText.get(text)));
  }
}

/**
 * The place of the best score, the first of equal ones; or with λ > 0 a draw with weights exp(score / λ). The
 * candidates are draws from the prior, so that this is π ∝ prior · exp(Q / λ) over them. A candidate without a score
 * is chosen only if none has one.
 * @param uniform in [0, 1)
 */
export function chooseCandidate(
  scores: readonly (number | undefined)[],
  lambda: number,
  uniform: number,
): number {
  const known = scores.map((score) => score ?? -Infinity);
  const largest = Math.max(...known);
  const best = known.indexOf(largest);
  if (lambda === 0 || largest === -Infinity) return best;
  const weights = known.map((score) => Math.exp((score - largest) / lambda));
  let left = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  const place = weights.findIndex((weight) => (left -= weight) < 0);
  return place === -1 ? best : place;
}

const nameOf = ({ model, generation }: Candidate): string => generation.servedModel ?? model.name;
