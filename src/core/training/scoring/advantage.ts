import type { CriticFile } from '../../model/local/critic/criticFile';
import type { ReadTurn } from '../../model/local/critic/protocol';

/** What a critic says of one turn, in nats. `untrained` is the control, null without hidden information. */
export interface Advantage {
  readonly advantage: number;
  readonly untrained: number | null;
}

/**
 * Eq. 3 of SWEET-RL (arXiv 2503.15478): the log-ratio of the turn's tokens between critic and base, their mean or,
 * without length normalisation, their sum. In the paper's convention the base reads what the critic reads; in that of
 * its code it never sees the hidden information. The control is what the base alone makes of that information.
 */
export function advantageOf({ critic, informed, plain }: ReadTurn, about: CriticFile): Advantage {
  const sees = about.hidden_information && about.convention === 'paper';
  const compared = sees ? informed! : plain;
  return {
    advantage: difference(critic, compared, about.length_normalisation),
    untrained: informed === undefined ? null : difference(informed, plain, about.length_normalisation),
  };
}

function difference(some: readonly number[], others: readonly number[], mean: boolean): number {
  const sum = some.reduce((total, value, index) => total + value - others[index]!, 0);
  return mean ? sum / some.length : sum;
}
