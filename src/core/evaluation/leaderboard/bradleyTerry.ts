export interface Games {
  /** Two different indices. */
  readonly players: readonly [number, number];
  readonly games: number;
  /** The first player's: a win is 1, a tie ½. */
  readonly score: number;
}

interface StrengthFit {
  /** Natural logarithm. The prior's opponent has 0. */
  readonly strengths: readonly number[];
  /** Inverse of the curvature at the maximum. */
  readonly covariance: readonly (readonly number[])[];
}

/** Tied games of each player against an opponent of strength 0. */
const PRIOR_GAMES = 1;
const PRIOR_SCORE = PRIOR_GAMES / 2;
const MAX_STEPS = 100;
/** The fit ends when step · gradient, about twice the gain of the next step, is below this. */
const TOLERANCE = 1e-14;

/**
 * Bradley–Terry model (Bradley and Terry 1952): i beats j with the probability 1 / (1 + exp(sⱼ − sᵢ)). A tie counts as
 * half a game won by each.
 * Without a prior the maximum exists only where every player has lost, directly or by way of others, to every other
 * one (Ford 1957; Hunter 2004, assumption 1). Therefore each player is also given one tied game with an opponent of
 * strength 0 (Whelan 2017, arXiv:1712.05311). It keeps a player who has won all games at a finite strength, pulls all
 * players together a little, and matters less the more games there are.
 * The logarithm of this likelihood is strictly concave and is maximised by Newton's method with halved steps.
 */
export function fitBradleyTerry(players: number, pairings: readonly Games[]): StrengthFit {
  let strengths = new Array<number>(players).fill(0);
  let value = logLikelihood(strengths, pairings);
  for (let taken = 0; taken < MAX_STEPS; taken += 1) {
    const { gradient, curvature } = derivatives(strengths, pairings);
    const covariance = inverse(curvature);
    const step = covariance.map((row) => dot(row, gradient));
    if (dot(step, gradient) < TOLERANCE) return { strengths, covariance };
    for (let scale = 1; ; scale /= 2) {
      const next = strengths.map((strength, i) => strength + scale * step[i]!);
      const reached = logLikelihood(next, pairings);
      if (reached < value && scale > 1e-6) continue;
      strengths = next;
      value = reached;
      break;
    }
  }
  throw new Error(`The strengths of ${players} players did not settle in ${MAX_STEPS} steps.`);
}

/** `difference`: strength of the player minus that of the opponent. */
export const winProbability = (difference: number): number => 1 / (1 + Math.exp(-difference));

function logLikelihood(strengths: readonly number[], pairings: readonly Games[]): number {
  const log = (difference: number): number => -Math.log1p(Math.exp(-difference));
  let sum = 0;
  for (const { players, games, score } of pairings) {
    const difference = strengths[players[0]]! - strengths[players[1]]!;
    sum += score * log(difference) + (games - score) * log(-difference);
  }
  for (const strength of strengths) sum += PRIOR_SCORE * (log(strength) + log(-strength));
  return sum;
}

function derivatives(strengths: readonly number[], pairings: readonly Games[]) {
  const gradient = strengths.map((strength) => PRIOR_SCORE - PRIOR_GAMES * winProbability(strength));
  const curvature = strengths.map((strength, i) =>
    strengths.map((_, j) => (i === j ? PRIOR_GAMES * variance(winProbability(strength)) : 0)),
  );
  for (const { players, games, score } of pairings) {
    const [i, j] = players;
    const expected = winProbability(strengths[i]! - strengths[j]!);
    gradient[i]! += score - games * expected;
    gradient[j]! -= score - games * expected;
    const weight = games * variance(expected);
    curvature[i]![i]! += weight;
    curvature[j]![j]! += weight;
    curvature[i]![j]! -= weight;
    curvature[j]![i]! -= weight;
  }
  return { gradient, curvature };
}

const variance = (probability: number): number => probability * (1 - probability);

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** Gauss–Jordan elimination needs no pivoting for a symmetric positive definite matrix. */
function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1 : 0))]);
  for (let pivot = 0; pivot < n; pivot += 1) {
    const head = rows[pivot]![pivot]!;
    rows[pivot] = rows[pivot]!.map((value) => value / head);
    for (let i = 0; i < n; i += 1) {
      const factor = rows[i]![pivot]!;
      if (i !== pivot) rows[i] = rows[i]!.map((value, j) => value - factor * rows[pivot]![j]!);
    }
  }
  return rows.map((row) => row.slice(n));
}
