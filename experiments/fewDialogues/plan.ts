import type { Cell } from '../scoreboard/cells';
import { methods, type Setting, type TrainedMethod } from '../scoreboard/methods';
import { full, type Plan } from '../scoreboard/plan';

/** Numbers of dialogues to learn from, one of each task; a smaller draw is part of each larger one of its seed. */
export const SIZES = [20, 50, 100, 200] as const;
export type Size = (typeof SIZES)[number];

/** Settings are chosen with a training seed and development tasks that do not count. The test split is not played. */
const COUNTED_TASKS = { tasks: 200, rollouts: 1, seed: 21 };
const CHOICE_TASKS = { tasks: 100, rollouts: 2, seed: 22 };
export const CHOICE_SEED = 101;

export function planOf(size: Size, part: 'choice' | 'counted'): Plan {
  return {
    ...full,
    // Every dialogue is ranked where turns are: there are few.
    offline: { ...full.offline, tasks: size, rollouts: 1, ranked: 1 },
    development: part === 'choice' ? CHOICE_TASKS : COUNTED_TASKS,
    temperatures: [1, 0.5],
  };
}

/** A method with a setting and a seed, of so many dialogues. */
export interface SizedCell extends Cell {
  readonly size: Size;
}

export interface Candidate {
  readonly method: TrainedMethod;
  /** Training seeds that count. */
  readonly seeds: readonly number[];
  /** The one that is kept, for each size. */
  readonly chosen: (size: Size) => Setting;
}

const THREE = [1, 2, 3];
const FIVE = [1, 2, 3, 4, 5];

const passes = (epochs: number, batch: number): Setting => ({
  name: `${epochs} epochs, batch ${batch}`,
  fields: { distill: { epochs, batch, learning_rate: 1e-3, eta: 4 } },
});

/** Those of the scoreboard, and with which the form of a new run fills in a small model. */
const usual = passes(5, 16);

const imitated: Setting = {
  name: '6 epochs, batch 8, lr 1e-3',
  fields: { policy: { learning_rate: 1e-3, epochs: 6, batch: 8 } },
};

const found = (name: string): TrainedMethod =>
  methods.find((method): method is TrainedMethod => method.name === name && 'fields' in method)!;

const answerNow: TrainedMethod = {
  ...{ name: 'answer-now', role: 'other' },
  about:
    'Turns ranked by the tests that answers pass which are forced after the reply; no critic is trained.',
  fields: { method: 'sweet-rl', critic: { score: 'answer-now', samples: 4 } },
  settings: [{ name: 'β 0.3, NLL 1', fields: { policy: { beta: 0.3, nll: 1 } } }],
};

/** In the order of the work. */
export const candidates: readonly Candidate[] = [
  {
    method: { ...found('distill'), settings: [usual, passes(10, 8)] },
    seeds: FIVE,
    chosen: () => usual,
  },
  { method: { ...found('rft'), settings: [imitated] }, seeds: THREE, chosen: () => imitated },
  { method: answerNow, seeds: THREE, chosen: () => answerNow.settings[0]! },
];
