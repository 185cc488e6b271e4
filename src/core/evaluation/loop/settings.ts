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
  /** Fields of `run.json`; the trainer's defaults apply to the others, and the method is SWEET-RL unless named. */
  readonly training: {
    readonly method?: string;
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
const FULL: LoopSettings = {
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

const PROTOCOLS: Readonly<Record<World, Protocol>> = {
  functions: protocol,
  pages: pageProtocol,
  'twenty-questions': questionProtocol,
};

/** With which the student of a model of the starter's size was measured (docs/methods.md). */
export const SMALL_DISTILLED = { learning_rate: 1e-3, batch: 16, epochs: 5, patience: 0 };

/**
 * One dialogue of each task: distillation needs no success to learn from, and more tasks are worth more to it than more
 * dialogues of a task.
 */
const distilled = (size: LoopSettings, trainTasks: number): LoopSettings => ({
  ...size,
  trainTasks,
  rollouts: 1,
  training: { method: 'distill', model: small.model, distill: SMALL_DISTILLED },
});

export type Size = 'brief' | 'standard' | 'thorough';

/**
 * Larger models get adapters and the trainer's own settings, which are the paper's: measurements with half a million
 * weights say nothing about them.
 */
export const MAX_WHOLE_TRAINING_PARAMETERS = 50_000_000;

const forLargeModel = (settings: LoopSettings): LoopSettings => ({
  ...settings,
  maxTokens: 1024,
  concurrency: 8,
  training: { model: { training: 'lora' } },
});

/**
 * Functions are taught to a small model by distillation, which was better there than SWEET-RL for the same dialogues
 * (docs/benchmarks/scoreboard.md). For other kinds of tasks and other models that is not shown.
 * @param parameters of the model that is taught
 */
export function sizesFor(world: World, parameters: number): Readonly<Record<Size, LoopSettings>> {
  const isLarge = parameters > MAX_WHOLE_TRAINING_PARAMETERS;
  if (world === 'functions' && !isLarge)
    return {
      brief: distilled(BRIEF, 100),
      standard: distilled(QUICK, 1200),
      thorough: distilled(FULL, 4000),
    };
  const of = (size: LoopSettings): LoopSettings => {
    const own = { ...size, protocol: PROTOCOLS[world] };
    return isLarge ? forLargeModel(own) : own;
  };
  return { brief: of(BRIEF), standard: of(QUICK), thorough: of(FULL) };
}
