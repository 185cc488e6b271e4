import type { TrainerEvent, TrainerEventOf } from '../events';

/** What is told to a person one by one; steps and progress are told by curves and bars. */
export type ToldEvent = Exclude<TrainerEvent, TrainerEventOf<'step' | 'progress' | 'sample'>>;

/** Looks at the held-out examples are routine: a run of a day has thousands. */
export const isRoutine = ({ event }: ToldEvent): boolean => event === 'evaluation';

const MOST = 200;
const MOST_ROUTINE = 40;

interface Numbered {
  /** From 1. */
  readonly number: number;
  readonly event: ToldEvent;
}

/** The latest of what is told. Routine is kept apart from the rest, so that it pushes nothing else out. */
export class Told {
  /** How many there were, and how many of them were routine. */
  count = 0;
  routine = 0;
  private readonly latestRoutine: Numbered[] = [];
  private readonly latestOthers: Numbered[] = [];

  add(event: ToldEvent): void {
    this.count += 1;
    const isOfRoutine = isRoutine(event);
    if (isOfRoutine) this.routine += 1;
    const kept = isOfRoutine ? this.latestRoutine : this.latestOthers;
    kept.push({ number: this.count, event });
    if (kept.length > (isOfRoutine ? MOST_ROUTINE : MOST)) kept.shift();
  }

  /** In the order in which they came. */
  get latest(): readonly ToldEvent[] {
    return [...this.latestRoutine, ...this.latestOthers]
      .sort((a, b) => a.number - b.number)
      .map(({ event }) => event);
  }
}
