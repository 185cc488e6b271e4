import { LOG_VERSION, type EventOf, type LogEvent, type NewEvent } from '../trajectory/event';
import type { TrajectoryLog } from '../trajectory/log';

/** Where a dialogue writes its steps down: the log, or nowhere. */
export type DialogueRecord = Pick<TrajectoryLog, 'recordTask' | 'append' | 'appendAll'>;

/**
 * For dialogues that are only played to see how they end, as thousands are to tell what one turn is worth: nobody will
 * look them up, and the disk is not waited for.
 */
export const unrecorded: DialogueRecord = {
  recordTask: () => Promise.resolve(),
  append: <E extends NewEvent>(event: E) => Promise.resolve(stamped(event) as EventOf<E['event']>),
  appendAll: (events) => Promise.resolve(events.map(stamped)),
};

const stamped = (event: NewEvent): LogEvent => ({
  version: LOG_VERSION,
  at: new Date().toISOString(),
  ...event,
});
