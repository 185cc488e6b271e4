import type { Protocol } from '../../src/core/dialogue/protocol';
import type { World } from '../../src/core/task/starter/splits';

/**
 * Version of everything that decides a result and that no key sees: objectives of the trainer, the replies of the
 * agents' runner, the grader. Raise it when one of them changes; every cell is then trained and played again.
 */
export const INSTRUMENT = 1;

/** Worlds with a plan: those in which an answer is a program. */
export type PlannedWorld = Exclude<World, 'pages'>;

/** The size of a scoreboard, and the seeds of everything random. */
export interface Plan {
  readonly name: 'full' | 'quick' | 'twenty-questions';
  /** Kind of the tasks; every method starts from the model that ships for it, unless another one is given. */
  readonly world: PlannedWorld;
  /** Names of the methods of the table; all by default. */
  readonly methods?: readonly string[];
  /** False for a table that is for orientation: none of the comparisons below is made. */
  readonly decides: boolean;
  readonly difficulty: 'gentle' | 'standard' | 'hard';
  readonly protocol: Protocol;
  /** Maximum number of tokens of an agent turn. */
  readonly maxTokens: number;
  /** Number of dialogues that each cell plays at one time. */
  readonly concurrency: number;
  /**
   * The dialogues that each training seed collects with the start model at temperature 1, about tasks of its own.
   * `ranked`: the fraction at whose histories candidates are ranked; a tenth in the paper, more where there are few.
   */
  readonly offline: {
    readonly tasks: number;
    readonly rollouts: number;
    readonly ranked: number;
    readonly seed: number;
  };
  /** Setting and temperature of each method are chosen on the development split; only these play the test split. */
  readonly development: PlayedSplit;
  readonly test: PlayedSplit;
  /** Of the play; greedy play (0) has one rollout a task, whatever the split says. */
  readonly temperatures: readonly number[];
  /** Training seeds of the choice. */
  readonly choiceSeeds: readonly number[];
  /** Training seeds of the table: all for anchors and the best new methods, the first few for the others. */
  readonly seeds: readonly number[];
  readonly fewSeeds: number;
  /** Number of new methods, the best on the development split, that get all seeds and a primary comparison. */
  readonly bestNew: number;
  /** Number of settings to try for each method, from the first. */
  readonly settings: number;
  readonly credit: CreditSize;
}

interface PlayedSplit {
  readonly tasks: number;
  /** Dialogues of each task, at most 9. */
  readonly rollouts: number;
  readonly seed: number;
}

interface CreditSize {
  /** Number of states from dialogues that were trained on, and again from dialogues of the development split. */
  readonly states: number;
  /** Number of turns sampled at each state; equal ones are one candidate. */
  readonly samples: number;
  readonly mostCandidates: number;
  readonly standardError: number;
  readonly mostRolls: number;
  readonly seed: number;
}

const credit = { samples: 8, mostCandidates: 6, seed: 70 };

export const full: Plan = {
  name: 'full',
  world: 'functions',
  decides: true,
  difficulty: 'standard',
  protocol: { maxTurns: 6, replyLimit: 400 },
  maxTokens: 160,
  concurrency: 64,
  // This size was chosen when more dialogues seemed to help the baselines alone; the real cause was too few steps:
  // docs/decisions/settings-of-small-models.md.
  offline: { tasks: 150, rollouts: 4, ranked: 0.8, seed: 11 },
  development: { tasks: 200, rollouts: 2, seed: 21 },
  // No earlier table played these tasks.
  test: { tasks: 400, rollouts: 4, seed: 40 },
  temperatures: [1, 0.5, 0],
  // These seeds differ from those of the table, so that a lucky training is not chosen for its luck and then reported.
  choiceSeeds: [101, 102],
  seeds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  fewSeeds: 3,
  bestNew: 2,
  settings: 2,
  // At a success rate of one half, 100 rolls give a standard error of 0.05.
  credit: { ...credit, states: 100, standardError: 0.05, mostRolls: 110 },
};

export const quick: Plan = {
  ...full,
  name: 'quick',
  offline: { tasks: 75, rollouts: 4, ranked: 0.5, seed: 11 },
  development: { tasks: 60, rollouts: 1, seed: 21 },
  // The tasks differ from those of the full table, which a preview must not use up.
  test: { tasks: 100, rollouts: 2, seed: 33 },
  choiceSeeds: [101],
  seeds: [1, 2],
  fewSeeds: 2,
  settings: 1,
  credit: { ...credit, states: 12, standardError: 0.1, mostRolls: 30 },
};

/** For orientation: the main methods in a world in which only what is asked decides. */
export const twentyQuestions: Plan = {
  ...full,
  name: 'twenty-questions',
  world: 'twenty-questions',
  methods: ['zero-shot', 'multiturn-dpo', 'sweet-rl', 'distill'],
  decides: false,
  // Six questions and the answer, as in `tandem loop`.
  protocol: { maxTurns: 7, replyLimit: 400 },
  development: { tasks: 100, rollouts: 2, seed: 21 },
  test: { tasks: 200, rollouts: 4, seed: 41 },
  choiceSeeds: [101],
  seeds: [1, 2, 3],
};

/** Rollouts of a task at a temperature: greedy play is the same each time. */
export const rolloutsAt = ({ rollouts }: PlayedSplit, temperature: number): number =>
  temperature === 0 ? 1 : rollouts;

/**
 * What the table is to decide, fixed before any test task is played, where the plan decides; every comparison is at each
 * method's own temperature.
 */
export const comparisons = {
  /**
   * Primary: each of the best new methods minus each of these. One is shown when an interval at 95 % for all of them
   * together (Bonferroni) lies above zero.
   */
  newAgainst: ['sweet-rl', 'multiturn-dpo'],
  /** Claims of the paper: the difference is at least `least`, and its 95 % interval lies above zero. */
  claims: [
    { better: 'sweet-rl', worse: 'multiturn-dpo', least: 0.06 },
    { better: 'sweet-rl', worse: 'rft', least: 0.12 },
    { better: 'sweet-rl', worse: 'no-hidden-information', least: 0 },
  ],
  /**
   * The ablation: methods that learn from preferences, all with the same β and NLL and the first few seeds; `sweet-rl`
   * minus each other one.
   */
  equal: {
    setting: 'β 0.3, NLL 1',
    methods: [
      ...['sweet-rl', 'multiturn-dpo', 'untrained-score', 'monte-carlo', 'no-hidden-information'],
      ...['reference-code', 'no-length-normalisation', 'value-head'],
    ],
  },
} as const;
