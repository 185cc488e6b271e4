import { randomUUID } from 'node:crypto';
import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../fault';
import { openRegular, refuseLinkedFolder } from '../regularFile';
import { Consents } from './consent';
import { refuseWhileErasing, unfinishedErasure } from './erase';
import { Erased } from './erased';
import type { ConsentLevel, EventOf, LogEvent } from './event';
import { ifThere, LineWriter, makeFolder, writeAtomically } from './files';
import { LogIndex } from './index/logIndex';
import { IndexStore } from './index/store';
import {
  addMentions,
  headerIn,
  noMentions,
  OPINIONS,
  withPeople,
  type Extent,
  type Mentions,
} from './people';
import {
  encodeEvent,
  eventsIn,
  headerOf,
  MAX_SEAL_BYTES,
  peek,
  readEvent,
  sealLine,
  sealOf,
} from './segment/line';
import { copyPictures, picturesOf } from './pictures';
import { consentsLostBy, segmentNames, follow, joined, newSequence, rangesOf } from './segment/files';
import { MAX_LINE_BYTES, scanLines, sumOfFile } from './segment/reader';
import { segmentHeader } from './segment/writer';
import { ForeignLines, type ForeignLog } from './foreignLines';

export interface MergeOptions {
  readonly signal?: AbortSignal;
  /** Pseudonyms that mean the same person there and here. Any other pseudonym of both is that of two people. */
  readonly samePeople?: readonly string[];
  /** The pseudonym of the person at this machine, of whom the log may have nothing yet. */
  readonly self?: string | undefined;
}

export interface MergedSegments {
  readonly added: number;
  /** Segments that were there already, and have grown in the other log since. */
  readonly grown: number;
  readonly alreadyThere: number;
  /** Names of segments that stay as they are here, because those of the other log have other content. */
  readonly different: readonly string[];
  /** People of the other log who have another name here. */
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  /** Number of lines by kind that are not taken over, `unreadable` and `unknown` among them. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** Number of lines whose time was in the future, and is that of the import. */
  readonly limitedTimes: number;
  /** What people agreed to there, by the names that they have here. */
  readonly agreed: ReadonlyMap<string, ConsentLevel>;
}

/**
 * Adds the dialogues of another log to a log. Each of its segments becomes one of the same name here, whose first line
 * says where it is from and how far it was read, so adding a log again adds only new segments and lines; an interrupted
 * call is continued by the next one.
 *
 * Nothing of the other log is trusted. Its lines are parsed and written anew; its people are others than those here,
 * under other names if need be; of dialogues that are here and not from there it adds opinions only, and no second one of
 * a person; its consents count only for what is lower than here (see `Consents`); its times end now. What was erased here stays away.
 *
 * @param from the other log's folder; it may be written to meanwhile, and is not changed
 * @param to the log's folder
 * @throws {Fault} `trajectory/no-log` if `from` has no log or is `to`; `file/not-regular` if a file of `from` is
 * a link or a pipe; `trajectory/unknown` for a person of `samePeople` who gave no consent there; `trajectory/log-in-use`
 * @throws the signal's reason if it is aborted; the segments added until then stay
 */
export async function mergeSegments(
  from: string,
  to: string,
  options: MergeOptions = {},
): Promise<MergedSegments> {
  const { signal, samePeople = [] } = options;
  const survey = await surveyOf(from, to, options);
  const { sources, different } = survey;
  refuseUnknown(samePeople, survey, from);
  const people = namesHere(survey, samePeople);
  const started = new Set([...survey.there.started, ...survey.before.started]);
  const foreign = new ForeignLines({ ...survey, people, started });
  const counts = { added: 0, grown: 0, alreadyThere: survey.alreadyThere };
  for (const source of sources) {
    const { known } = source;
    const isNew = source.bytes > source.from;
    counts[!isNew ? 'alreadyThere' : known ? 'grown' : 'added'] += 1;
    const isNamed = known?.imported?.people.every(([name, named]) => people.get(name) === named) ?? true;
    if (!isNew && isNamed) continue;
    signal?.throwIfAborted();
    await refuseWhileErasing(from);
    await refuseWhileErasing(to);
    await writeSegment(from, to, source, survey.origin, people, foreign);
  }
  const mentioned = sources.flatMap((source) => [...source.mentions.people]);
  const renamed = [...new Set(mentioned)].flatMap((name) => {
    const here = people.get(name) ?? name;
    return here === name ? [] : [{ from: name, to: here }];
  });
  const agreed = new Map<string, ConsentLevel>();
  for (const [name, named] of people) {
    const level = survey.given.level(name);
    if (level !== undefined) agreed.set(named, level);
  }
  const { leftOut, limitedTimes } = foreign;
  return { ...counts, different, renamed, leftOut, limitedTimes, agreed };
}

/** Pseudonyms of the other log that are also here, so that somebody may say who are the same person. */
export async function sharedPeople(
  from: string,
  to: string,
  options: Omit<MergeOptions, 'samePeople'>,
): Promise<string[]> {
  const survey = await surveyOf(from, to, options);
  const { people, here, there, consents } = survey;
  const isOpen = (name: string): boolean => !people.has(name) && consents.of(name) !== undefined;
  return [...there.people].filter((name) => here.people.has(name) && isOpen(name)).sort();
}

interface Source extends Extent {
  readonly name: string;
  /** Bytes that were imported before. */
  readonly from: number;
  /** Its first line here, if it was imported before. */
  readonly known: EventOf<'segment'> | undefined;
  readonly mentions: Mentions;
}

interface Survey extends Omit<ForeignLog, 'started'> {
  readonly origin: string;
  /** As they stand there, even if one of them may have been withdrawn since. */
  readonly given: Consents;
  /** Names from earlier imports of this folder. */
  readonly people: Map<string, string>;
  /** What earlier imports of this folder have brought. */
  readonly before: Mentions;
  /** What is new there. */
  readonly there: Mentions;
  readonly sources: readonly Source[];
  readonly alreadyThere: number;
  readonly different: readonly string[];
}

async function surveyOf(
  from: string,
  to: string,
  { signal, self }: Omit<MergeOptions, 'samePeople'>,
): Promise<Survey> {
  refuseLinkedFolder(from);
  const names = await segmentNames(from);
  if (names.length === 0)
    throw new Fault('trajectory/no-log', `${from} has no dialogues: name the data folder of another Tandem.`);
  await makeFolder(to);
  if ((await realpath(from)) === (await realpath(to)))
    throw new Fault(
      'trajectory/no-log',
      `${from} is this log itself: name the data folder of another Tandem.`,
    );
  for (const name of names) await (await openRegular(join(from, name), { links: 'refused' })).close();
  const erasing = await unfinishedErasure(from);
  if (erasing) {
    const message = `Erasing the data of ${erasing.pseudonym} from ${from} was interrupted: run tandem erase for that pseudonym there again, and then import.`;
    throw new Fault('trajectory/erasing', message);
  }
  const sources: Source[] = [];
  const different: string[] = [];
  const there = noMentions();
  let alreadyThere = 0;
  let origin: string | undefined;
  const erased = await Erased.read(to);
  for (const name of names) {
    signal?.throwIfAborted();
    const state = await stateOf(from, to, name);
    if (state === 'different') different.push(name);
    else if (state === 'already there') alreadyThere += 1;
    else {
      origin ??= state.known?.imported?.origin;
      const mentions = noMentions();
      const extent = await addMentions(join(from, name), mentions, state.from, erased);
      if (extent.bytes === 0) continue;
      sources.push({ name, ...state, ...extent, mentions });
      for (const each of ['people', 'players', 'started', 'played', 'packs'] as const)
        mentions[each].forEach((one) => there[each].add(one));
    }
  }
  origin ??= randomUUID();
  const mentioned = await mentionsHere(to, origin);
  if (self !== undefined) mentioned.here.people.add(self);
  return {
    ...mentioned,
    ...(await countedThere(from)),
    ...{ erased, origin, there, sources, alreadyThere, different },
  };
}

async function stateOf(
  from: string,
  to: string,
  name: string,
): Promise<'different' | 'already there' | Pick<Source, 'from' | 'known'>> {
  const [file, target] = [join(from, name), join(to, name)];
  if ((await ifThere(() => lstat(target))) === undefined) return { from: 0, known: undefined };
  const known = await headerIn(target);
  const isSecondHand = (await headerIn(file))?.imported !== undefined;
  if (known?.imported) {
    const { bytes, sum } = known.imported;
    const isSame = (await lstat(file)).size >= bytes && (await sumOfFile(file, bytes)) === sum;
    if (isSame) return { from: bytes, known };
    return isSecondHand ? 'already there' : 'different';
  }
  // One's own segment, which the other folder has from here; or one that an older Tandem has copied as it was.
  if (isSecondHand) return 'already there';
  const there = await addMentions(file, noMentions());
  const isWhole = (await lstat(target)).size >= there.bytes;
  return isWhole && (await sumOfFile(target, there.bytes)) === there.sum ? 'already there' : 'different';
}

async function mentionsHere(to: string, origin: string): Promise<Pick<Survey, 'here' | 'before' | 'people'>> {
  const here = noMentions();
  const before = noMentions();
  const people = new Map<string, string>();
  for (const name of await segmentNames(to)) {
    const header = await headerIn(join(to, name));
    const isFromThere = header?.imported?.origin === origin;
    await addMentions(join(to, name), isFromThere ? before : here);
    if (header?.imported === undefined || !isFromThere) continue;
    for (const [there, named] of header.imported.people) {
      // Somebody may have said later that they are one person.
      if (people.get(there) !== there) people.set(there, named);
    }
  }
  return { here, before, people };
}

/** By the rules for one's own log, with what they know of lost lines. */
async function countedThere(from: string): Promise<Pick<Survey, 'consents' | 'given' | 'incomplete'>> {
  const store = IndexStore.inMemory();
  try {
    await new LogIndex(from, store).catchUp();
    const rows = store.all<{ id: string }>('select id from episode where doubtful = 1 or damaged = 1');
    return {
      consents: new Consents(store.consents, consentsLostBy(store)),
      given: new Consents(store.consents),
      incomplete: new Set(rows.map(({ id }) => id)),
    };
  } finally {
    store.close();
  }
}

function refuseUnknown(
  samePeople: readonly string[],
  { consents, there, people }: Survey,
  from: string,
): void {
  const known = new Set([...there.people, ...people.keys()]);
  for (const name of samePeople) {
    if (known.has(name) && consents.of(name) !== undefined) continue;
    const what = known.has(name) ? 'gave no consent there' : 'is not in its dialogues';
    const message = `${name} cannot be the same person here and in ${from}, because ${name} ${what}. Check the name, or import without it.`;
    throw new Fault('trajectory/unknown', message);
  }
}

/** Somebody who played there without a consent gets another name in any case: who takes the pseudonym here would give one for both. */
function namesHere(
  { people, here, there, given }: Survey,
  samePeople: readonly string[],
): Map<string, string> {
  const names = new Map(people);
  for (const name of samePeople) names.set(name, name);
  const silent = [...there.players].filter((name) => given.of(name) === undefined);
  const taken = new Set([...here.people, ...silent, ...names.values()]);
  for (const name of [...there.people].sort()) {
    if (names.has(name)) continue;
    let named = name;
    for (let number = 2; taken.has(named) || (named !== name && there.people.has(named)); number += 1)
      named = `${name} (${number})`;
    taken.add(named);
    names.set(name, named);
  }
  return names;
}

/** What was imported before stays byte for byte, unless somebody has said since that people are one. */
async function writeSegment(
  from: string,
  to: string,
  source: Source,
  origin: string,
  people: ReadonlyMap<string, string>,
  foreign: ForeignLines,
): Promise<void> {
  const { name, known, bytes, sum, mentions } = source;
  const target = join(to, name);
  const before = new Map(known?.imported?.people);
  const names = new Map(
    [...before.keys(), ...mentions.people].map((person) => [person, people.get(person) ?? person]),
  );
  const isNamed = [...before].every(([person, named]) => names.get(person) === named);
  const renames = new Map([...before].map(([person, named]) => [named, names.get(person) ?? named]));
  const imported = { origin, bytes, sum, people: [...names] };
  await writeAtomically(target, async (handle) => {
    const lines = new LineWriter(handle);
    const said = known && !isNamed ? await saidHere(target, renames, foreign) : [];
    const without = joined(known?.without ?? [], rangesOf(said));
    lines.put(sealLine(segmentHeader(without, known?.lost, known?.older, imported), 1));
    let number = Math.max(1, without.at(-1)?.[1] ?? 1);
    if (known) {
      const gone = new Set(said);
      await scanLines(target, 0, (line, offset) => {
        if (offset === 0) return;
        const seal = sealOf(line);
        if (typeof seal === 'number') number = Math.max(number, seal);
        if (typeof seal === 'number' && gone.has(seal)) return;
        const isSame = isNamed || typeof seal !== 'number';
        lines.put(
          (isSame ? undefined : renamedLine(line, seal, renames)) ?? Buffer.concat([line, LINE_FEED]),
        );
      });
    }
    const pictures = new Set<string>();
    await translateLines(join(from, name), source, foreign, (event) => {
      number += 1;
      const line = encodeEvent(event);
      if (line.length > MAX_LINE_BYTES - MAX_SEAL_BYTES) {
        foreign.leaveOut(event.event);
        return;
      }
      for (const picture of picturesOf(event)) pictures.add(picture);
      lines.put(sealLine(line, number));
    });
    foreign.leaveOut('pictures', await copyPictures(from, to, pictures));
    lines.flush();
  });
}

/** Numbers of the opinions in the place of which the same person, by the new names, has one here. */
async function saidHere(
  file: string,
  renames: ReadonlyMap<string, string>,
  foreign: ForeignLines,
): Promise<number[]> {
  const numbers: number[] = [];
  await scanLines(file, 0, (line) => {
    const kind = peek(line)?.kind;
    const seal = sealOf(line);
    if (typeof seal !== 'number' || (kind !== undefined && !OPINIONS.has(kind))) return;
    const read = readEvent(line);
    if (!('event' in read) || !foreign.isSaidHere(renamed(read.event, renames))) return;
    numbers.push(seal);
    foreign.leaveOut(read.event.event);
  });
  return numbers;
}

const renamed = (event: LogEvent, renames: ReadonlyMap<string, string>): LogEvent =>
  withPeople(event, (name) => renames.get(name) ?? name);

const LINE_FEED = Buffer.from('\n');

/** Undefined for a line that stays as it is. */
function renamedLine(line: Buffer, number: number, renames: ReadonlyMap<string, string>): Buffer | undefined {
  const read = readEvent(line);
  if (!('event' in read)) return undefined;
  const event = renamed(read.event, renames);
  return isDeepStrictEqual(event, read.event) ? undefined : sealLine(encodeEvent(event), number);
}

async function translateLines(
  file: string,
  { from, bytes }: Source,
  foreign: ForeignLines,
  write: (event: LogEvent) => void,
): Promise<void> {
  const sequence = newSequence();
  const tasks = new Map<string, EventOf<'task'>>();
  const written = new Set<EventOf<'task'>>();
  const started = new Set<string>();
  const take = (event: LogEvent): void => {
    const translated = event.event === 'segment' ? undefined : foreign.of(event);
    if (translated === undefined) return;
    if (translated.event === 'episode-started') {
      // Only the tasks that are played here.
      const task = tasks.get(translated.task);
      const isNew = task !== undefined && !written.has(task);
      const dated = isNew ? foreign.of(task) : undefined;
      if (task && dated) {
        write(dated);
        written.add(task);
      }
      started.add(translated.episode);
    }
    write(translated);
  };
  const addLine = (line: Buffer, isOld: boolean): void => {
    const front = peek(line);
    const { refused } = follow(sequence, sealOf(line), front?.kind);
    if (isOld && front !== undefined && front.kind !== 'task') return;
    const read = refused === undefined ? readEvent(line) : undefined;
    if (read && 'event' in read) {
      if (read.event.event === 'task') tasks.set(read.event.task.id, read.event);
      else if (!isOld) take(read.event);
    } else if (!isOld) foreign.leaveOut(read && 'unknown' in read ? 'unknown' : 'unreadable');
  };
  await scanLines(
    file,
    0,
    (line, offset) => {
      if (line.length === 0 || offset >= bytes) return;
      if (offset === 0) sequence.without = headerOf(line)?.without ?? [];
      const seal = sealOf(line);
      const isOne = typeof seal === 'number' || (seal === 'none' && !sequence.isSealed);
      for (const { event } of isOne ? [{ event: line }] : eventsIn(line)) addLine(event, offset < from);
    },
    {
      onTooLong: (offset) => {
        if (offset >= from && offset < bytes) foreign.leaveOut('unreadable');
      },
    },
  );
  for (const episode of started) {
    const loss = foreign.lossOf(episode);
    if (loss) write(loss);
  }
}
