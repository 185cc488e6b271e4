import { crc32 } from 'node:zlib';
import { openRegular } from '../regularFile';
import type { Erased } from './erased';
import type { Collaborator, EventOf, LogEvent } from './event';
import { ifThere } from './files';
import { headerOf, matches, peek, readEvent } from './segment/line';
import { isWrittenElsewhere } from './claim';
import { MAX_LINE_BYTES, scanLines } from './segment/reader';

/** Lines by which a person says something about a dialogue, which stays as it was. */
export const OPINIONS: ReadonlySet<string> = new Set([
  'rating',
  'turn-rating',
  'label',
  'judgement',
  'credit-verdict',
]);

const PLAYS: ReadonlySet<string> = new Set(['episode-started', 'hand-over', 'choice', 'reply', 'agent-turn']);

/** Kinds of lines that name no person, and are too many or too long to be parsed for nothing. */
const IMPERSONAL: ReadonlySet<string> = new Set([
  ...['segment', 'task', 'agent-turn', 'candidates', 'turn-superseded', 'leak', 'answered', 'grade'],
  ...['abandoned', 'resumed', 'deleted', 'undeleted', 'lines-lost'],
]);

/**
 * The event with another name for each person. The name of a simulator is not a person's. Parts of packs keep the names
 * that they were assigned to, unless `rename` knows them.
 */
export function withPeople(event: LogEvent, rename: (name: string) => string): LogEvent {
  switch (event.event) {
    case 'episode-started': {
      const { parent } = event;
      const renamed = { ...event, collaborator: seat(event.collaborator, rename) };
      return parent ? { ...renamed, parent: { ...parent, people: parent.people.map(rename) } } : renamed;
    }
    case 'hand-over':
      return { ...event, to: seat(event.to, rename) };
    case 'agent-turn':
      return event.by === undefined ? event : { ...event, by: rename(event.by) };
    case 'reply':
      return event.author === 'simulator' ? event : { ...event, by: rename(event.by) };
    case 'consent':
      return { ...event, pseudonym: rename(event.pseudonym) };
    case 'assignment': {
      const { part } = event;
      return part ? { ...event, part: { ...part, person: rename(part.person) } } : event;
    }
    case 'choice':
    case 'rating':
    case 'turn-rating':
    case 'label':
    case 'review':
    case 'judgement':
    case 'credit-verdict':
    case 'outcome':
      return { ...event, by: rename(event.by) };
    default:
      return event;
  }
}

const seat = ({ kind, name }: Collaborator, rename: (name: string) => string): Collaborator => ({
  kind,
  name: kind === 'developer' ? rename(name) : name,
});

/** In a reply, right after its turn. */
const BY_SIMULATOR = Buffer.from(',"author":"simulator"');
/** In a message that a person wrote as the agent, right after its turn. */
const BY_PERSON = Buffer.from(',"by":"');

/** What an import must know of lines before it translates any. */
export interface Mentions {
  /** Who played, said something about a dialogue, or gave a consent. */
  readonly people: Set<string>;
  /** Of them, those whose words are in dialogues. */
  readonly players: Set<string>;
  readonly started: Set<string>;
  /** Dialogues that have other lines than opinions. */
  readonly played: Set<string>;
  readonly packs: Set<string>;
  /** What people have said something about; see `opinionOf`. */
  readonly opinions: Set<string>;
}

/** Whose opinion about what it is: a later one of the same takes its place. */
export function opinionOf(event: LogEvent): string | undefined {
  if (!OPINIONS.has(event.event) || !('by' in event)) return undefined;
  const { event: kind, episode, by } = event;
  const about = [
    'turn' in event ? event.turn : '',
    'pair' in event ? event.pair : '',
    'critic' in event ? event.critic : '',
  ];
  return JSON.stringify([kind, episode, by, ...about]);
}

export const noMentions = (): Mentions => ({
  people: new Set(),
  players: new Set(),
  started: new Set(),
  played: new Set(),
  packs: new Set(),
  opinions: new Set(),
});

/** What is complete of a file of the log. */
export interface Extent {
  readonly bytes: number;
  /** CRC-32. */
  readonly sum: number;
}

/**
 * @param from byte offset of the first line whose mentions count
 * @param erased lines that do not count
 */
export async function addMentions(
  file: string,
  mentions: Mentions,
  from = 0,
  erased?: Erased,
): Promise<Extent> {
  let sum = 0;
  const { end: bytes } = await scanLines(
    file,
    0,
    (line, offset) => {
      if (offset >= from) addLine(line, mentions, erased);
    },
    { onBytes: (read) => (sum = crc32(read, sum)), mayFill: () => isWrittenElsewhere(file) },
  );
  return { bytes, sum };
}

function addLine(line: Buffer, mentions: Mentions, erased?: Erased): void {
  const { people, players, started, played, packs, opinions } = mentions;
  const front = peek(line);
  if (erased?.covers(front, line)) return;
  if (front?.episode !== undefined && !OPINIONS.has(front.kind)) played.add(front.episode);
  const isPersons = front?.kind === 'agent-turn' && matches(line, front.rest, BY_PERSON);
  if (front && !isPersons && (IMPERSONAL.has(front.kind) || matches(line, front.rest, BY_SIMULATOR))) return;
  const read = readEvent(line);
  if (!('event' in read)) return;
  const { event } = read;
  if ('episode' in event && !OPINIONS.has(event.event)) played.add(event.episode);
  if (event.event === 'episode-started') started.add(event.episode);
  const opinion = opinionOf(event);
  if (opinion !== undefined) opinions.add(opinion);
  if (event.event === 'assignment') packs.add(event.pack);
  else withPeople(event, (name) => (people.add(name), name));
  if (PLAYS.has(event.event)) withPeople(event, (name) => (players.add(name), name));
}

const HEADER_BYTES = 64 * 1024;

/** The first line of a file of the log; undefined without a file, or if it is unreadable. */
export function headerIn(file: string): Promise<EventOf<'segment'> | undefined> {
  return ifThere(async () => {
    const handle = await openRegular(file);
    try {
      for (let read = Buffer.alloc(0); read.length < MAX_LINE_BYTES;) {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, null);
        read = Buffer.concat([read, buffer.subarray(0, bytesRead)]);
        const end = read.indexOf(0x0a);
        if (end !== -1) return headerOf(read.subarray(0, end));
        if (bytesRead === 0) break;
      }
      return undefined;
    } finally {
      await handle.close();
    }
  });
}
