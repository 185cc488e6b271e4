import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { MB, readText } from '../regularFile';
import type { LogEvent } from './event';
import { ifThere, writeAtomically } from './files';
import { bodyOf, readEvent, type LineFront } from './segment/line';

const schema = z.object({ version: z.literal(1), salt: z.string(), hashes: z.array(z.string()) });

/** Not a segment, because an import adds segments: what others erased must not hide what is here. */
export const erasedFileOf = (logFolder: string): string => join(logFolder, 'erased.json');

/**
 * What was erased from a log, as salted hashes without words or names, so that a copied file does not bring it back:
 * ids of episodes and tasks, and a key of each line of the person about something else.
 */
export class Erased {
  private constructor(
    private readonly salt: string,
    private readonly hashes: ReadonlySet<string>,
  ) {}

  /** @throws {Fault} `trajectory/bad-plan` */
  static async read(logFolder: string): Promise<Erased> {
    const file = erasedFileOf(logFolder);
    const text = await ifThere(() => readText(file, 64 * MB));
    if (text === undefined) return new Erased(randomBytes(16).toString('hex'), new Set());
    try {
      const { salt, hashes } = schema.parse(JSON.parse(text));
      return new Erased(salt, new Set(hashes));
    } catch (cause) {
      const message = `${file} remembers what was erased from the log, and cannot be read. Restore it from a copy, or delete it; without it, erased dialogues come back with copied files of the log.`;
      throw new Fault('trajectory/bad-plan', message, { cause });
    }
  }

  get isEmpty(): boolean {
    return this.hashes.size === 0;
  }

  hasEpisode(id: string): boolean {
    return !this.isEmpty && this.hashes.has(this.hash('episode', id));
  }

  hasTask(id: string): boolean {
    return !this.isEmpty && this.hashes.has(this.hash('task', id));
  }

  /** True for a line of an erased episode, and for a copy of an erased line; tasks have `hasTask`. */
  covers(front: LineFront | undefined, line: Buffer): boolean {
    if (this.isEmpty) return false;
    if (front?.episode !== undefined && this.hasEpisode(front.episode)) return true;
    if (front && !OF_PEOPLE.has(front.kind)) return false;
    const read = readEvent(line);
    if ('reason' in read) return false;
    if ('event' in read) return this.hasEvent(read.event);
    const { episode } = read.unknown;
    if (typeof episode === 'string' && this.hasEpisode(episode)) return true;
    return this.hasLine(keyOf(read, line));
  }

  hasEvent(event: LogEvent): boolean {
    if (this.isEmpty) return false;
    if ('episode' in event && this.hasEpisode(event.episode)) return true;
    return this.hasLine(keyOfEvent(event));
  }

  private hasLine(key: string | undefined): boolean {
    return key !== undefined && this.hashes.has(this.hash('line', key));
  }

  async remember(logFolder: string, more: ErasedThings): Promise<Erased> {
    const hashes = new Set(this.hashes);
    for (const id of more.episodes) hashes.add(this.hash('episode', id));
    for (const id of more.tasks) hashes.add(this.hash('task', id));
    for (const key of more.lines) hashes.add(this.hash('line', key));
    if (hashes.size === this.hashes.size) return this;
    const { salt } = this;
    await writeAtomically(erasedFileOf(logFolder), JSON.stringify({ version: 1, salt, hashes: [...hashes] }));
    return new Erased(salt, hashes);
  }

  private hash(kind: 'episode' | 'task' | 'line', what: string): string {
    return createHash('sha256').update(`${this.salt} ${kind} ${what}`).digest('base64url');
  }
}

export interface ErasedThings {
  readonly episodes: Iterable<string>;
  readonly tasks: Iterable<string>;
  readonly lines: Iterable<string>;
}

/** Kinds of events of one person about a dialogue of others, or about none. */
const OF_PEOPLE: ReadonlySet<LogEvent['event']> = new Set([
  'consent',
  'assignment',
  'rating',
  'turn-rating',
  'label',
  'review',
  'judgement',
  'credit-verdict',
  'outcome',
]);

/** Whose event it is; a line that an import changes or numbers anew keeps its key. */
export function keyOf(read: ReturnType<typeof readEvent>, line: Buffer): string | undefined {
  if ('reason' in read) return undefined;
  return 'unknown' in read ? bodyOf(line).toString() : keyOfEvent(read.event);
}

function keyOfEvent(event: LogEvent): string | undefined {
  const who = personOf(event);
  if (who === undefined) return undefined;
  return JSON.stringify([event.event, 'episode' in event ? event.episode : '', event.at, who]);
}

export function personOf(event: LogEvent): string | undefined {
  if (!OF_PEOPLE.has(event.event)) return undefined;
  if (event.event === 'consent') return event.pseudonym;
  if (event.event === 'assignment') return event.part?.person;
  return 'by' in event ? event.by : undefined;
}
