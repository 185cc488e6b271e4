import type { TrainerEvent } from '../events';
import { isFinal } from '../progress';

/**
 * Seconds since the first event, without the time in which no trainer worked on the run. Steps that a resumed run
 * repeats count twice, because their time was spent twice.
 */
export class TrainingClock {
  seconds = 0;
  /** Milliseconds since 1970. */
  private last: number | undefined;
  private isAtRest = true;

  advance(event: TrainerEvent): void {
    const at = Date.parse(event.at);
    if (Number.isNaN(at)) return;
    // A killed trainer reports no end, so each start counts as the end of a pause. On a cluster `nodes` precedes it.
    const isStart = event.event === 'nodes' || (event.event === 'state' && event.state === 'preparing');
    const isPause = this.isAtRest || isStart;
    // A clock that was set back must not turn the curve back.
    if (!isPause && this.last !== undefined) this.seconds += Math.max(0, at - this.last) / 1000;
    this.last = at;
    this.isAtRest = event.event === 'state' && isFinal(event.state);
  }
}
