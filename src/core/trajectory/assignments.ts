import type { EventOf, NewEvent } from './event';

/** A line of the log on who plays a pack; `at` is its time. */
export type Assigning = Omit<EventOf<'assignment'>, 'version' | 'event'>;

/** A person's part of a pack's tasks: see the event `assignment`. */
export type Part = NonNullable<Assigning['part']>;

/**
 * Returns the events that assign a pack to people anew; whoever had a part of it before has none any more. They belong
 * into one append.
 * @param people pseudonyms; their order decides who gets which tasks. Without people the assignment is taken back
 */
export function assigning(
  pack: string,
  people: readonly string[],
  dealt: Pick<Part, 'perTask' | 'seed'>,
): NewEvent[] {
  const { perTask, seed } = dealt;
  const parts = people.map((person, place) => ({ person, place, places: people.length, perTask, seed }));
  return [
    { event: 'assignment', pack },
    ...parts.map((part) => ({ event: 'assignment' as const, pack, part })),
  ];
}

/**
 * Returns the parts that people have of each assigned pack, by the pack's file name.
 * @param lines in any order of segments; within one segment in its order
 */
export function assignedIn(lines: readonly Assigning[]): Map<string, readonly Part[]> {
  const assigned = new Map<string, readonly Part[]>();
  const inTime = lines.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
  for (const { pack, part } of inTime) {
    if (part) assigned.set(pack, [...(assigned.get(pack) ?? []), part]);
    else assigned.delete(pack);
  }
  return assigned;
}
