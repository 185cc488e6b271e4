import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { ifThere, writeAtomically } from '../files';
import { bytesPerValue, Column, Strings, Table, type ColumnKind } from './columns';
import { Episodes } from './episodes';
import type { IndexedSegment, IndexParts } from './parts';
import { Ranges, TaskLines } from './places';

/*
 * The index file: 8 bytes of magic, a checksum (CRC-32, unsigned) of everything after the first 16 bytes, the length of
 * the header, the header as JSON, then the columns, each at a multiple of 8 bytes from the start of the file. Numbers
 * are little-endian. It only saves time: whatever is wrong with it, it is rebuilt from the log. The magic's number rises
 * whenever what is written, or what it means, changes. The header says the columns all the same: two branches that each
 * took the next number would otherwise read each other's files as their own.
 */
const MAGIC = Buffer.from('TNDMIDX7');
const FRONT_BYTES = 16;

const LAYOUT = JSON.stringify([Episodes.columnKinds, Ranges.columnKinds, TaskLines.columnKinds]);
const ANOTHER_VERSION = { reason: 'it was written by another version' };

interface Header {
  /** The names of the columns and their kinds, in the order of the file. */
  readonly layout: string;
  readonly ids: string[];
  readonly strings: string[];
  readonly segments: IndexedSegment[];
  readonly consents: IndexParts['consents'];
  readonly problems: IndexParts['problems'];
  readonly older: IndexParts['older'];
  readonly lengths: { readonly episodes: number; readonly ranges: number; readonly tasks: number };
}

export async function writeIndexFile(file: string, parts: IndexParts): Promise<void> {
  const tables = tablesOf(parts);
  const header: Header = {
    layout: LAYOUT,
    ids: parts.episodes.ids,
    strings: parts.strings.values,
    segments: parts.segments,
    consents: parts.consents,
    problems: parts.problems,
    older: parts.older,
    lengths: {
      episodes: parts.episodes.length,
      ranges: parts.ranges.table.length,
      tasks: parts.tasks.table.length,
    },
  };
  const json = Buffer.from(JSON.stringify(header));
  // Made in one go, without a pause in which a row could be added.
  const pieces: Uint8Array[] = [json, padding(FRONT_BYTES + json.length)];
  for (const { columns, length } of tables) {
    for (const column of Object.values(columns)) {
      const bytes = column.bytes(length);
      pieces.push(bytes, padding(bytes.length));
    }
  }
  const body = Buffer.concat(pieces);
  const front = Buffer.alloc(FRONT_BYTES);
  MAGIC.copy(front);
  front.writeUInt32LE(crc32(body), 8);
  front.writeUInt32LE(json.length, 12);
  await writeAtomically(file, async (handle) => {
    await handle.writeFile(front);
    await handle.writeFile(body);
  });
}

/** The parts that the file holds; a reason when it cannot be trusted; undefined when there is none. */
export async function readIndexFile(file: string): Promise<IndexParts | { reason: string } | undefined> {
  const read = await ifThere(() => readFile(file));
  if (!read) return undefined;
  const whole = read.byteOffset % 8 === 0 ? read : Buffer.from(read);
  if (whole.length < FRONT_BYTES || !whole.subarray(0, MAGIC.length).equals(MAGIC)) {
    return ANOTHER_VERSION;
  }
  if (crc32(whole.subarray(FRONT_BYTES)) !== whole.readUInt32LE(8))
    return { reason: 'its checksum is wrong' };
  const jsonEnd = FRONT_BYTES + whole.readUInt32LE(12);
  const header = JSON.parse(whole.toString('utf8', FRONT_BYTES, jsonEnd)) as Header;
  if (header.layout !== LAYOUT) return ANOTHER_VERSION;
  let offset = jsonEnd + padding(jsonEnd).length;
  const table = <Name extends string>(
    kinds: Readonly<Record<Name, ColumnKind>>,
    length: number,
  ): Table<Name> => {
    const columns = Object.entries<ColumnKind>(kinds).map(([name, kind]) => {
      const column = Column.over(kind, whole.buffer, whole.byteOffset + offset, length);
      const bytes = length * bytesPerValue(kind);
      offset += bytes + padding(bytes).length;
      return [name, column];
    });
    return new Table(Object.fromEntries(columns) as Record<Name, Column>, length);
  };
  const { lengths } = header;
  const strings = new Strings(header.strings);
  const episodes = new Episodes(strings, header.ids, table(Episodes.columnKinds, lengths.episodes));
  const ranges = new Ranges(table(Ranges.columnKinds, lengths.ranges));
  const tasks = new TaskLines(table(TaskLines.columnKinds, lengths.tasks));
  const { segments, consents, problems, older } = header;
  return { strings, episodes, ranges, tasks, segments, consents, problems, older };
}

/** In the order of the file and of `LAYOUT`. */
function tablesOf({ episodes, ranges, tasks }: IndexParts): readonly Table<string>[] {
  return [episodes.table, ranges.table, tasks.table];
}

function padding(length: number): Uint8Array {
  return new Uint8Array((8 - (length % 8)) % 8);
}
