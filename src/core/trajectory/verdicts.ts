import type { EventOf } from './event';
import type { Trajectory } from './trajectory';

/** A person's opinion on what a critic says of a turn. */
export type Verdict = EventOf<'credit-verdict'> & { readonly agrees: boolean };

/** Adds a verdict, which replaces the same person's earlier one on the same critic. */
export function withVerdict(
  before: readonly EventOf<'credit-verdict'>[] = [],
  verdict: EventOf<'credit-verdict'>,
): readonly EventOf<'credit-verdict'>[] {
  const others = before.filter(({ by, critic }) => by !== verdict.by || critic !== verdict.critic);
  return [...others, verdict];
}

/** Returns the verdicts that were not withdrawn, in the order of the turns. */
export function verdictsOf({ turns }: Pick<Trajectory, 'turns'>): Verdict[] {
  return turns.flatMap(({ verdicts = [] }) => verdicts.filter(isGiven));
}

const isGiven = (verdict: EventOf<'credit-verdict'>): verdict is Verdict => verdict.agrees !== undefined;
