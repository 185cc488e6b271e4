import type { EventOf, LogEvent } from '../event';
import type { Peek } from '../segment/line';
import type { StartFields } from './episodes';
import { readStart } from './read';

/** What a row takes in of an event; a whole event says all of it. */
export type RowEvent =
  Glimpse | Exclude<LogEvent, { event: 'segment' | 'task' | 'consent' | Glimpse['event'] }>;

type Glimpse =
  | Pick<EventOf<'agent-turn' | 'candidates' | 'choice'>, 'event' | 'turn'>
  | Pick<EventOf<'answered' | 'deleted' | 'undeleted'>, 'event'>
  | Pick<EventOf<'leak'>, 'event' | 'turn' | 'fraction' | 'leaked'>
  | Pick<EventOf<'reply'>, 'event' | 'turn' | 'author' | 'milliseconds'>
  | {
      readonly event: 'grade';
      readonly grade: Pick<EventOf<'grade'>['grade'], 'mode' | 'reward' | 'success'>;
    }
  | ({ readonly event: 'episode-started' } & StartFields);

/** What the front of a line and a few bytes more tell of an event; undefined when the line has to be parsed whole. */
export function glance(
  { kind, turn, rest }: Peek,
  buffer: Buffer,
  start: number,
  end: number,
): Glimpse | undefined {
  switch (kind) {
    case 'agent-turn':
    case 'candidates':
    case 'choice':
      return { event: kind, turn };
    case 'answered':
    case 'deleted':
    case 'undeleted':
      return { event: kind };
    case 'reply': {
      const match = REPLY.exec(buffer.toString('latin1', rest, Math.min(end, rest + 80)));
      if (!match) return undefined;
      const [, author, milliseconds] = match as unknown as [string, EventOf<'reply'>['author'], string?];
      return milliseconds === undefined
        ? { event: kind, turn, author }
        : { event: kind, turn, author, milliseconds: Number(milliseconds) };
    }
    case 'leak': {
      const match = LEAK.exec(buffer.toString('latin1', rest, Math.min(end, rest + 64)));
      return match
        ? { event: kind, turn, fraction: Number(match[1]), leaked: match[2] === 'true' }
        : undefined;
    }
    case 'grade': {
      const match = GRADE.exec(buffer.toString('latin1', rest, Math.min(end, rest + 96)));
      if (!match) return undefined;
      const [, mode, reward, success] = match as unknown as [string, 'fixed' | 'paper', string, string];
      const outcome = success === 'null' ? null : success === 'true';
      return {
        event: kind,
        grade: { mode, reward: reward === 'null' ? null : Number(reward), success: outcome },
      };
    }
    case 'episode-started': {
      const fields = readStart(buffer.subarray(start, end));
      return fields && { ...fields, event: kind };
    }
    default:
      return undefined;
  }
}

/** The id of the task on a line, as `glance`. */
export function glanceTask({ rest }: Peek, buffer: Buffer, end: number): string | undefined {
  return TASK.exec(buffer.toString('latin1', rest, Math.min(end, rest + 256)))?.[1];
}

const NUMBER = '-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?';
const REPLY = new RegExp(
  `^,"author":"(developer|simulator|developer-edited-suggestion)",(?:"milliseconds":(${NUMBER}),)?"text"`,
);
const LEAK = new RegExp(`^,"fraction":(${NUMBER}),"leaked":(true|false)[,}]`);
const GRADE = new RegExp(
  `^,"grade":\\{"mode":"(fixed|paper)","reward":(${NUMBER}|null),"success":(true|false|null),`,
);
/** Ids with escapes or beyond ASCII are read by parsing the line. */
const TASK = /^,"task":\{"id":"([^"\\\u0080-\u00ff]*)"/;
