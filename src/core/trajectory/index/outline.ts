import { collaboratorKinds, parentSchema, type EventOf, type LogEvent } from '../event';
import { matches, type LineFront } from '../segment/line';

/**
 * The fields of an event that a list needs, without its texts, so that most bytes of a log are never parsed; undefined
 * if the line must be parsed whole. The check sum must have been verified: then Tandem wrote the line, and its keys are
 * in a known order.
 */
export function outlineOf(front: LineFront, line: Buffer): LogEvent | undefined {
  const { kind, turn } = front;
  switch (kind) {
    case 'agent-turn':
    case 'answered':
    case 'turn-superseded':
    case 'deleted':
    case 'undeleted':
      // Folding looks only at their kind and turn, and passes the rest on.
      return shared(kind, turn);
    case 'candidates':
      // A judgement names its candidates by their time.
      return { event: kind, turn, at: new Date(front.at).toISOString() } as LogEvent;
    case 'reply': {
      // Most replies are a simulator's, and nothing else of them counts.
      if (matches(line, front.rest, BY_SIMULATOR)) return shared(kind, turn, 'simulator');
      const [, author, milliseconds] = match(REPLY, front, line) ?? [];
      const time = milliseconds === undefined ? undefined : Number(milliseconds);
      return author === undefined
        ? undefined
        : ({ event: kind, turn, author, milliseconds: time } as LogEvent);
    }
    case 'leak': {
      const [, fraction, leaked] = match(LEAK, front, line) ?? [];
      const read = { event: kind, turn, fraction: Number(fraction), leaked: leaked === 'true' };
      return fraction === undefined ? undefined : (read as LogEvent);
    }
    case 'grade': {
      const [, mode, reward, success] = match(GRADE, front, line) ?? [];
      const grade = {
        mode,
        reward: reward === 'null' ? null : Number(reward),
        success: success === 'null' ? null : success === 'true',
      };
      return mode === undefined ? undefined : ({ event: kind, grade } as LogEvent);
    }
    case 'episode-started':
      return startOf(line);
    default:
      return undefined;
  }
}

/**
 * For early turns always the same object: most events of a log have the same few fields, and folding changes none of
 * them.
 */
function shared(event: LineFront['kind'], turn: number, author?: string): LogEvent {
  const make = (): LogEvent => ({ event, turn, ...(author !== undefined && { author }) }) as LogEvent;
  if (turn > SHARED_TURNS) return make();
  return ((SHARED[event] ??= [])[turn] ??= make());
}

const SHARED_TURNS = 100;
const SHARED: Partial<Record<LineFront['kind'], LogEvent[]>> = {};

/** Under the conditions of `outlineOf`; undefined for ids with escapes or beyond ASCII. */
export const taskIdOf = (front: LineFront, line: Buffer): string | undefined => match(TASK, front, line)?.[1];

/** Maximum number of bytes between the front of a line and its texts. */
const BYTES = 128;
const NUMBER = '-?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?';
const AUTHORS = 'developer|simulator|developer-edited-suggestion|developer-sent-suggestion';
const BY_SIMULATOR = Buffer.from(',"author":"simulator","by":"');
const REPLY = new RegExp(
  `^,"author":"(${AUTHORS})",(?:"milliseconds":(${NUMBER}),)?(?:"by":"[^"\\\\]*",)?"text"`,
);
const LEAK = new RegExp(`^,"fraction":(${NUMBER}),"leaked":(true|false)[,}]`);
/** With tests: the score of a page is read whole. */
const GRADE = new RegExp(
  `^,"grade":\\{"mode":"(fixed|paper)","reward":(${NUMBER}|null),"success":(true|false|null),(?:"grader":\\d+,)?"tests":\\[\\{`,
);
const TASK = /^,"task":\{"id":"([^"\\\u0080-\u00ff]*)"/;

const match = (form: RegExp, { rest }: LineFront, line: Buffer): RegExpExecArray | null =>
  form.exec(line.toString('latin1', rest, rest + BYTES));

/** Checked by hand, because each episode has one start and zod would take longer than parsing. */
function startOf(line: Buffer): LogEvent | undefined {
  const event = JSON.parse(line.toString()) as Partial<EventOf<'episode-started'>>;
  const { episode, at, task, agent, seed, pack, rollout, collection, collaborator, parent } = event;
  const isWhole =
    typeof task === 'string' &&
    typeof agent === 'string' &&
    typeof seed === 'number' &&
    (pack === undefined || typeof pack === 'string') &&
    (rollout === undefined || typeof rollout === 'number') &&
    (collection === undefined || typeof collection === 'string') &&
    (parent === undefined || parentSchema.safeParse(parent).success) &&
    typeof collaborator?.name === 'string' &&
    collaboratorKinds.includes(collaborator.kind);
  const ids = { event: event.event, episode, at, task, agent, seed };
  return isWhole ? ({ ...ids, pack, rollout, collection, collaborator, parent } as LogEvent) : undefined;
}
