import { createHash } from 'node:crypto';
import { isObject } from '../../json';
import type { EventOf } from '../event';

/** What a turn of the agent holds besides and between its messages, in order. */
export type SessionPart = NonNullable<NonNullable<EventOf<'agent-turn'>['imported']>['parts']>[number];

interface OpeningMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** All that the agent did between two messages of the user. */
export interface SessionTurn {
  /** Its messages, with blank lines between. */
  readonly text: string;
  readonly model?: string;
  readonly at?: string;
  /** Empty if the turn is a single message. */
  readonly parts: readonly SessionPart[];
  readonly reply?: { readonly text: string; readonly at?: string; readonly extra?: unknown };
}

/** A dialogue that another program recorded. */
export interface Session {
  /** The program, by its own name. */
  readonly harness: string;
  /** The program's name of the session. */
  readonly id?: string;
  readonly title?: string;
  readonly model?: string;
  readonly at?: string;
  /** Messages before the agent's first, instructions included. */
  readonly opening: readonly OpeningMessage[];
  /** What the user asked for first. */
  readonly request: string;
  readonly turns: readonly SessionTurn[];
  readonly answer?: string;
  readonly extra?: unknown;
  /** Number of texts that were cut, and of things that were left out because they are too large or too many. */
  readonly cut: number;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface SessionFormat {
  readonly is: string;
  /** True for an object that only this format has. */
  readonly recognises: (value: Fields) => boolean;
  /** True if each object is a session. */
  readonly isWhole?: true;
  readonly read: () => SessionReading;
}

/** Reads the objects of one file. Both return a session that is complete, or why something is none. */
export interface SessionReading {
  readonly add: (value: Fields) => Session | string | undefined;
  readonly end: () => Session | string | undefined;
}

interface Told {
  readonly at?: string | undefined;
  readonly extra?: unknown;
}

interface Names {
  readonly harness: string;
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly model?: string | undefined;
  readonly answer?: string | undefined;
  readonly extra?: unknown;
}

const MAX_PART_CHARS = 100_000;
/** Far below the longest line of the log, into which a turn must fit. */
const MAX_TURN_CHARS = 2_000_000;
const MAX_TURN_PARTS = 10_000;
/** JSON of the fields that no reader knows. */
const MAX_EXTRA_CHARS = 4_000;
const MAX_NAME_CHARS = 200;

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** Puts the messages and tool calls of a session together, bounded, as turns of a dialogue. */
export class SessionBuilder {
  private readonly opening: OpeningMessage[] = [];
  private readonly turns: Writable<SessionTurn>[] = [];
  private chars = 0;
  private partCount = 0;
  private cut = 0;
  private at: string | undefined;

  user(text: string, { at, extra }: Told = {}): void {
    this.begun(at);
    const turn = this.turns.at(-1);
    const kept = this.shortened(text, MAX_TURN_CHARS);
    if (this.opening.length === 0 && turn !== undefined && turn.reply === undefined) {
      // The file begins amid a turn, as after a compaction: the dialogue begins with this message.
      this.leaveOut(turn.parts.length);
      this.turns.pop();
      this.opening.push({ role: 'user', content: kept });
      return;
    }
    if (turn === undefined) this.opening.push({ role: 'user', content: kept });
    else if (turn.reply === undefined)
      turn.reply = { text: kept, ...defined({ at, extra: this.small(extra) }) };
    else
      turn.reply = { ...turn.reply, text: this.shortened(`${turn.reply.text}\n\n${kept}`, MAX_TURN_CHARS) };
  }

  /** Instructions, or words of the program during the session. */
  system(text: string, { at, extra }: Told = {}): void {
    if (this.turns.length > 0) this.part({ kind: 'note', text, at, extra });
    else this.opening.push({ role: 'system', content: this.shortened(text, MAX_TURN_CHARS) });
  }

  agent(text: string, { at, model, extra }: Told & { readonly model?: string | undefined } = {}): void {
    if (model !== undefined) this.turn(at).model ??= shortName(model);
    if (text !== '' || extra !== undefined) this.part({ kind: 'text', text, at, extra });
  }

  part(part: SessionPart): void {
    this.begun(part.at);
    const turn = this.turn(part.at);
    const max = part.kind === 'text' ? MAX_TURN_CHARS : MAX_PART_CHARS;
    const room = Math.min(max, MAX_TURN_CHARS - this.chars);
    if (room <= 0 || this.partCount >= MAX_TURN_PARTS) {
      this.cut += 1;
      return;
    }
    const { kind, name, id, at } = part;
    const text = this.shortened(part.text, room);
    const left = part.text.length - text.length;
    (turn.parts as SessionPart[]).push({
      ...{ kind, text },
      ...defined({ name: name && shortName(name), id: id && shortName(id), at }),
      ...defined({ extra: this.small(part.extra), left: left || undefined }),
    });
    this.chars += text.length;
    this.partCount += 1;
  }

  leaveOut(count = 1): void {
    this.cut += count;
  }

  /** Returns the reason if it is no dialogue. */
  build({ harness, id, title, model, answer, extra }: Names): Session | string {
    const { opening, turns } = this;
    if (turns.length === 0)
      return 'The session has no message of the agent; import it once the agent has answered.';
    const asked = opening.filter(({ role }) => role === 'user').map(({ content }) => content);
    const request = (asked.length > 0 ? asked : opening.map(({ content }) => content)).join('\n\n').trim();
    if (request === '')
      return 'The session has no request before the first message of the agent; import the whole session.';
    const said = turns.map(({ parts, ...turn }) => ({
      ...turn,
      text: parts.flatMap(({ kind, text }) => (kind === 'text' && text !== '' ? [text] : [])).join('\n\n'),
      parts: parts.length === 1 && isPlain(parts[0]!) ? [] : parts,
    }));
    return {
      harness: shortName(harness),
      opening,
      request,
      turns: said,
      ...defined({
        id: id && shortName(id),
        title: title && shortName(title.replace(/\s+/g, ' ').trim()),
        model: (model && shortName(model)) ?? said.find((turn) => turn.model !== undefined)?.model,
        ...{ at: this.at, answer, extra: this.small(extra) },
      }),
      cut: this.cut,
    };
  }

  /** The first time counts. */
  begun(at: string | undefined): void {
    this.at ??= at;
  }

  private turn(at: string | undefined): Writable<SessionTurn> {
    const last = this.turns.at(-1);
    if (last !== undefined && last.reply === undefined) return last;
    [this.chars, this.partCount] = [0, 0];
    const turn: Writable<SessionTurn> = { text: '', parts: [], ...defined({ at }) };
    this.turns.push(turn);
    return turn;
  }

  private shortened(text: string, max: number): string {
    if (text.length <= max) return text;
    this.cut += 1;
    return text.slice(0, max);
  }

  private small(extra: unknown): unknown {
    if (extra === undefined || JSON.stringify(extra).length <= MAX_EXTRA_CHARS) return extra;
    this.cut += 1;
    return undefined;
  }
}

const isPlain = ({ kind, extra, left }: SessionPart): boolean =>
  kind === 'text' && extra === undefined && left === undefined;

const shortName = (name: string): string => name.slice(0, MAX_NAME_CHARS);

/** Of the same session with the same words, in every file. */
export function digestOf({ harness, id, opening, turns }: Session): string {
  const content = JSON.stringify([harness, id ?? null, opening, turns]);
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

/** Without the fields that are undefined. */
export function defined<T extends object>(fields: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]?: Exclude<T[Field], undefined>;
  };
}

export const textOrUndefined = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** Fields that the reader has not taken; undefined if there are none. */
export function others(value: Fields, taken: readonly string[]): Fields | undefined {
  const left = Object.entries(value).filter(([name, one]) => !taken.includes(name) && one != null);
  return left.length === 0 ? undefined : Object.fromEntries(left);
}

/** As ISO 8601, from such a text or from milliseconds since 1970. */
export function timeIn(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const time = new Date(value);
  const year = time.getUTCFullYear();
  return year >= 1970 && year < 10_000 ? time.toISOString() : undefined;
}

/** Objects of a list; a text counts as a block of text. */
export function blocksIn(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** The text of a message; pictures and files are named by their kind. */
export const textIn = (content: unknown): string =>
  blocksIn(content)
    .map(({ type, text }) =>
      typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'part'}]`,
    )
    .join('\n');

/** Arguments and results are texts, or any JSON. */
export const jsonText = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/**
 * The entries from the first to the last along the parents that they name: where a user went back and took another way,
 * the way that was left is not among them. Where a parent is not known, as after a compaction, the entry before in the file
 * is the parent.
 */
export function alongParents<Entry>(
  entries: readonly Entry[],
  idOf: (entry: Entry) => unknown,
  parentOf: (entry: Entry) => unknown,
): Set<Entry> {
  const places = new Map(entries.map((entry, place) => [idOf(entry), place]));
  const live = new Set<Entry>();
  for (let place = entries.length - 1; place >= 0;) {
    const entry = entries[place]!;
    live.add(entry);
    const parent = places.get(parentOf(entry) ?? undefined);
    place = parent !== undefined && parent < place ? parent : place - 1;
  }
  return live;
}
