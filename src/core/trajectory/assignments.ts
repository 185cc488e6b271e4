import type { EventOf, NewEvent } from './event';

/** A line of the log on who plays a pack; `at` is its time. */
export type Assigning = Omit<EventOf<'assignment'>, 'version' | 'event'>;

/** A person's part of a pack's tasks: see the event `assignment`. */
export type Part = NonNullable<Assigning['part']>;

/**
 * Returns the events that assign a pack anew; whoever had a part of it before has none any more. They belong into one
 * append.
 * @param parts without any, the assignment is taken back
 */
export function assigning(pack: string, parts: readonly Part[]): NewEvent[] {
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
