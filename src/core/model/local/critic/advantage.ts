import type { CriticFile } from './criticFile';
import type { ReadTurn } from './process';

/** In nats. `untrained` is the control, null without hidden information. */
export interface Advantage {
  readonly advantage: number;
  readonly untrained: number | null;
}

/**
 * Eq. 3 of SWEET-RL (arXiv 2503.15478): the log-ratio of the turn's tokens between critic and base, as mean or,
 * without length normalisation, as sum. The control compares the base with and without the hidden information.
 */
export function advantageOf(turn: ReadTurn, about: CriticFile): Advantage {
  const { informed, plain } = turn;
  const { length_normalisation: mean } = about;
  return {
    advantage: combined(logRatios(turn, about), mean),
    untrained: informed === undefined ? null : combined(differences(informed, plain), mean),
  };
}

/**
 * One log-ratio for each token, in nats. In the paper's convention the base reads the same text as the critic; in that
 * of its code the base never sees the hidden information.
 */
export function logRatios({ critic, informed, plain }: ReadTurn, about: CriticFile): number[] {
  const sees = about.hidden_information && about.convention === 'paper';
  return differences(critic, sees ? informed! : plain);
}

const differences = (some: readonly number[], others: readonly number[]): number[] =>
  some.map((value, index) => value - others[index]!);

function combined(ratios: readonly number[], mean: boolean): number {
  const sum = ratios.reduce((total, ratio) => total + ratio, 0);
  return mean ? sum / ratios.length : sum;
}
