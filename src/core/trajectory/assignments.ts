import type { EventOf, NewEvent } from './event';
import { orderOf } from './segment/line';

/** `at` is the time of the line. */
export type Assigning = Omit<EventOf<'assignment'>, 'version' | 'event'>;

export type Part = NonNullable<Assigning['part']>;

/**
 * Whoever had a part of the pack before has none any more. The events belong into one append.
 * @param parts none takes the assignment back
 */
export function assigning(pack: string, parts: readonly Part[]): NewEvent[] {
  return [
    { event: 'assignment', pack },
    ...parts.map((part) => ({ event: 'assignment' as const, pack, part })),
  ];
}

/**
 * By the pack's file name.
 * @param lines in any order of segments; within one segment in its order
 */
export function assignedIn(lines: readonly Assigning[]): Map<string, readonly Part[]> {
  const assigned = new Map<string, readonly Part[]>();
  const inTime = lines.toSorted((a, b) => compare(orderOf(a.at), orderOf(b.at)));
  for (const { pack, part } of inTime) {
    if (part) assigned.set(pack, [...(assigned.get(pack) ?? []), part]);
    else assigned.delete(pack);
  }
  return assigned;
}

/** Infinite ones, too. */
const compare = (one: number, other: number): number => (one < other ? -1 : one > other ? 1 : 0);
