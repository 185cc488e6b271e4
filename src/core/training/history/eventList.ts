import type { TrainerEvent, TrainerEventOf } from '../events';

/** Steps and progress are shown as curves and bars instead. */
export type ListedEvent = Exclude<TrainerEvent, TrainerEventOf<'step' | 'progress' | 'sample'>>;

/** A run of a day has thousands of evaluations. */
export const isRoutine = ({ event }: ListedEvent): boolean => event === 'evaluation';

const MAX_EVENTS = 200;
const MAX_ROUTINE_EVENTS = 40;

interface Numbered {
  /** From 1. */
  readonly number: number;
  readonly event: ListedEvent;
}

/** The latest events. Routine ones have a limit of their own, so that they displace no others. */
export class EventList {
  /** Counts of all events, including those no longer kept. */
  count = 0;
  routine = 0;
  private readonly latestRoutine: Numbered[] = [];
  private readonly latestOthers: Numbered[] = [];

  add(event: ListedEvent): void {
    this.count += 1;
    const isOfRoutine = isRoutine(event);
    if (isOfRoutine) this.routine += 1;
    const kept = isOfRoutine ? this.latestRoutine : this.latestOthers;
    kept.push({ number: this.count, event });
    if (kept.length > (isOfRoutine ? MAX_ROUTINE_EVENTS : MAX_EVENTS)) kept.shift();
  }

  get latest(): readonly ListedEvent[] {
    return [...this.latestRoutine, ...this.latestOthers]
      .sort((a, b) => a.number - b.number)
      .map(({ event }) => event);
  }
}
