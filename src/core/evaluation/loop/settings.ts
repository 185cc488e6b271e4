import type { Protocol } from '../../dialogue/protocol';
import type { World } from '../../task/starter/splits';
import type { Difficulty } from '../../task/starter/world';

/** Amounts of play and training; the report lists them all. */
export interface LoopSettings {
  readonly difficulty: Difficulty;
  /** To learn from, and to measure on; the maximum when packs are given. */
  readonly trainTasks: number;
  readonly heldOutTasks: number;
  /** Per task, to learn from and to measure sampled play with. Greedy play is measured once per task. */
  readonly rollouts: number;
  readonly evaluationRollouts: number;
  readonly temperature: number;
  readonly maxTokens: number;
  readonly protocol: Protocol;
  readonly concurrency: number;
  /** Fields of `run.json`; the trainer's defaults apply to the others. */
  readonly training: {
    readonly model: object;
    readonly data?: object;
    readonly [field: string]: unknown;
  };
}

/** Six turns are five questions and the answer: with more, asking about everything would win without learning. */
const protocol: Protocol = { maxTurns: 6, replyLimit: 400 };

/**
 * For a model of the starter's size. It is trained whole, since its weights are fewer than the adapters of a large
 * one; on the CPU, which is done before a GPU has started; and in float32, in which small steps count. β and NLL are
 * larger than the paper's: with its own, both sides of a pair become ever less likely, and unsampled messages take
 * over. All pairs are used, because few dialogues have few first successes
 * (docs/decisions/settings-of-small-models.md).
 */
const small = {
  model: { training: 'full', device: 'cpu', dtype: 'float32' },
  data: { pairing: 'all' },
  critic: { learning_rate: 3e-4, batch: 16, epochs: 6, beta: 3, nll: 0.1 },
  candidates: { per_turn: 8, pairs_per_turn: 4, trajectories: 0.25, max_new_tokens: 160 },
  policy: { learning_rate: 3e-4, batch: 32, epochs: 3, beta: 0.3, nll: 1 },
};

/** Less than a quarter of an hour on two cores with the starter model. */
export const QUICK: LoopSettings = {
  difficulty: 'standard',
  trainTasks: 400,
  heldOutTasks: 200,
  rollouts: 4,
  evaluationRollouts: 2,
  temperature: 1,
  maxTokens: 256,
  protocol,
  concurrency: 32,
  training: small,
};

/** More dialogues to learn from, and intervals half as wide. */
export const FULL: LoopSettings = {
  ...QUICK,
  trainTasks: 1500,
  heldOutTasks: 500,
  rollouts: 6,
  evaluationRollouts: 4,
};

/** A demonstration, with too few dialogues to expect a gain. */
const BRIEF: LoopSettings = {
  ...QUICK,
  trainTasks: 40,
  heldOutTasks: 40,
  evaluationRollouts: 1,
  training: {
    ...small,
    critic: { ...small.critic, epochs: 3 },
    candidates: { ...small.candidates, per_turn: 4, pairs_per_turn: 2 },
    policy: { ...small.policy, epochs: 2 },
  },
};

/** Four drafts are three replies of two differences each: with more, an agent that knows no trade would win. */
const pageProtocol: Protocol = { maxTurns: 4, replyLimit: 1000 };

/** Six questions: halving finds 95 of 100 figures with them, asking at random what tells something 84. */
const questionProtocol: Protocol = { maxTurns: 7, replyLimit: 400 };

const under = (own: Protocol): Readonly<Record<Size, LoopSettings>> => ({
  brief: { ...BRIEF, protocol: own },
  standard: { ...QUICK, protocol: own },
  thorough: { ...FULL, protocol: own },
});

export type Size = 'brief' | 'standard' | 'thorough';

export const SIZES: Readonly<Record<World, Readonly<Record<Size, LoopSettings>>>> = {
  functions: { brief: BRIEF, standard: QUICK, thorough: FULL },
  pages: under(pageProtocol),
  'twenty-questions': under(questionProtocol),
};

/**
 * Larger models get adapters and the trainer's own settings, which are the paper's: measurements with half a million
 * weights say nothing about them.
 */
export const MAX_WHOLE_TRAINING_PARAMETERS = 50_000_000;

/** Above `MAX_WHOLE_TRAINING_PARAMETERS`. */
export const forLargeModel = (settings: LoopSettings): LoopSettings => ({
  ...settings,
  maxTokens: 1024,
  concurrency: 8,
  training: { model: { training: 'lora' } },
});
