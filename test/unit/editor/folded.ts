import type { LogEvent, NewEvent } from '../../../src/core/trajectory/event';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { doubling, foldTrajectory } from '../../fixtures/log';

/** Returns the dialogue about doubling of these events, which begin with its start. */
export function folded(...events: readonly NewEvent[]): Trajectory {
  const all: NewEvent[] = [{ event: 'task', task: doubling }, ...events];
  return foldTrajectory(
    all.map((event): LogEvent => ({ version: 1, at: '2026-01-01T00:00:00.000Z', ...event })),
  )!;
}
