import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../fault';
import { openRegular } from '../../regularFile';
import type { EventOf, LogEvent } from '../event';
import { episodeOf, foldEvent, type Folding, type Loss } from '../fold';
import { orderOf, eventsIn, readEvent } from '../segment/line';
import { lostLines, type LostLines } from '../segment/files';
import type { Trajectory } from '../trajectory';
import type { IndexStore } from './store';
import { rowOf, type Row } from './rows';

interface ByteRange {
  readonly segment: number;
  readonly start: number;
  readonly length: number;
}

interface TaskCopy {
  readonly range: ByteRange;
  readonly areDifferent: boolean;
}

const TASK_LINES = 'from task_line where task = (select number from name where text = ?)';

/** Files that are kept open between two dialogues; a log of short runs has thousands. */
const MAX_OPEN_FILES = 256;
const RANGES_AT_ONCE = 64;

interface ReadEpisode {
  readonly folding: Folding;
  /** Undefined if the log has no readable line of the task. */
  readonly task: EventOf<'task'> | undefined;
  /** One sentence, if a line is unreadable or it is unknown which task was played. */
  readonly damage: string | undefined;
}

/** Opened files stay open until `close`, up to a number. */
export class EpisodeReader {
  private readonly handles = new Map<number, Promise<FileHandle>>();
  private readonly lost: KnownLosses;
  /** Of tasks that dialogues could not read where they began, by id. */
  private readonly copies = new Map<string, TaskCopy>();

  constructor(
    private readonly logFolder: string,
    private readonly store: IndexStore,
  ) {
    this.lost = new KnownLosses(lostLines(store));
  }

  /**
   * Undefined if the episode never started.
   * @throws {Fault} `trajectory/task-missing` if the log has the episode but not its task
   */
  async episode(
    number: number,
    id: string,
  ): Promise<{ readonly trajectory: Trajectory; readonly deleted: boolean } | undefined> {
    const read = await this.read(number, id);
    if (!read) return undefined;
    const { folding, task, damage } = read;
    if (!task) {
      const message = `The log holds episode ${id} but not its task ${folding.started.task}: the line of the task is damaged, or a file of the log is missing.`;
      throw new Fault('trajectory/task-missing', message);
    }
    const episode = episodeOf(folding);
    const damaged = episode.damaged ?? damage;
    const trajectory = { ...episode, task: task.task, ...(damaged !== undefined && { damaged }) };
    return { trajectory, deleted: folding.deleted };
  }

  /** Undefined if the episode never started. */
  async read(number: number, id: string): Promise<ReadEpisode | undefined> {
    const { events, unreadable, started } = await this.events(
      byteRanges(this.store.ranges(number)),
      id,
      this.lost,
    );
    let folding: Folding | undefined;
    for (const event of events) folding = foldEvent(folding, event);
    if (!folding || !started) return undefined;
    const task = await this.task(folding.started.task, started);
    return { folding, task: task?.event, damage: unreadable ?? task?.doubt };
  }

  /**
   * From the segment in which the episode began. If that is unreadable, the copies in other segments are used; if they
   * differ, `doubt` says that the task is unknown.
   */
  private async task(
    id: string,
    started: { readonly segment: number; readonly offset: number },
  ): Promise<{ readonly event: EventOf<'task'>; readonly doubt?: string } | undefined> {
    const own = this.store.get<ByteRange>(
      `select segment, start, length ${TASK_LINES} and segment = ? and start < ? order by start desc limit 1`,
      id,
      started.segment,
      started.offset,
    );
    const event = own && (await this.taskAt(own));
    if (event) return { event };
    const copy = this.copies.get(id) ?? (await this.lastCopy(id));
    if (copy === undefined) return undefined;
    this.copies.set(id, copy);
    const last = await this.taskAt(copy.range);
    if (last === undefined || !copy.areDifferent) return last && { event: last };
    const doubt = `The task ${id} cannot be read where this dialogue began, and elsewhere the log has different ones of that id.`;
    return { event: last, doubt };
  }

  private async lastCopy(id: string): Promise<TaskCopy | undefined> {
    const ranges = this.store.all<Row & ByteRange>(
      `select segment, start, length ${TASK_LINES} order by segment, start`,
      id,
    );
    let first: EventOf<'task'> | undefined;
    let copy: TaskCopy | undefined;
    for (const range of ranges) {
      const event = await this.taskAt(range);
      if (event === undefined) continue;
      first ??= event;
      const areDifferent = copy?.areDifferent === true || !isDeepStrictEqual(event.task, first.task);
      copy = { range, areDifferent };
    }
    return copy;
  }

  private async taskAt(range: ByteRange): Promise<EventOf<'task'> | undefined> {
    const [event] = (await this.events([range])).events;
    return event?.event === 'task' ? event : undefined;
  }

  async close(): Promise<void> {
    for (const handle of this.handles.values()) await (await handle).close();
    this.handles.clear();
  }

  /**
   * In file order within a segment; segments are merged by time and then name.
   * @param lost losses to insert at their positions; one with the same time as an event follows it. Of those elsewhere
   * only the last counts, because it puts in doubt all that the earlier ones do.
   */
  private async events(
    ranges: readonly ByteRange[],
    episode?: string,
    lost?: KnownLosses,
  ): Promise<{
    events: (LogEvent | Loss)[];
    unreadable: string | undefined;
    started: { segment: number; offset: number } | undefined;
  }> {
    const bySegment = new Map<number, (LogEvent | Loss)[]>();
    const left = new Set<LostLines>();
    let unreadable: string | undefined;
    let started: { segment: number; offset: number } | undefined;
    const pieces: Buffer[] = [];
    for (let from = 0; from < ranges.length; from += RANGES_AT_ONCE) {
      const some = ranges.slice(from, from + RANGES_AT_ONCE);
      pieces.push(...(await Promise.all(some.map((range) => this.bytes(range)))));
      if (this.handles.size > MAX_OPEN_FILES) await this.close();
    }
    for (const [index, { segment, start }] of ranges.entries()) {
      const here = lost?.within(segment);
      const events = bySegment.get(segment) ?? [];
      if (here && !bySegment.has(segment)) left.add(here);
      bySegment.set(segment, events);
      for (const { line, offset } of splitEvents(pieces[index]!, start)) {
        if (here && offset >= here.offset! && left.delete(here)) events.push(lossOf(here));
        const read = readEvent(line);
        if ('reason' in read) unreadable ??= read.reason;
        else if ('event' in read) {
          if (episode === undefined || ('episode' in read.event && read.event.episode === episode)) {
            events.push(read.event);
            if (read.event.event === 'episode-started') started = { segment, offset };
          } else unreadable ??= 'The log was rewritten while it was read.';
        }
      }
    }
    const { segments } = this.store;
    const inOrder = [...bySegment].sort(([a], [b]) => (segments[a]!.name < segments[b]!.name ? -1 : 1));
    for (const one of left) bySegment.get(one.segment)!.push(lossOf(one));
    const elsewhere = lost?.lastElsewhere(bySegment);
    if (elsewhere) inOrder.push([elsewhere.segment, [lossOf(elsewhere)]]);
    return { events: mergeByTime(inOrder.map(([, events]) => events)), unreadable, started };
  }

  private async bytes({ segment, start, length }: ByteRange): Promise<Buffer> {
    let opening = this.handles.get(segment);
    if (!opening) {
      opening = openRegular(join(this.logFolder, this.store.segments[segment]!.name));
      this.handles.set(segment, opening);
    }
    const handle = await opening;
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    return buffer.subarray(0, bytesRead);
  }
}

/** Looked up for each episode, and there may be a loss for each segment. */
class KnownLosses {
  private readonly positioned: ReadonlyMap<number, LostLines>;
  private readonly byTime: readonly LostLines[];

  constructor(lost: readonly LostLines[]) {
    this.positioned = new Map(
      lost.flatMap((one) => (one.offset === undefined ? [] : [[one.segment, one] as const])),
    );
    this.byTime = lost.toSorted((one, other) => other.at - one.at);
  }

  within(segment: number): LostLines | undefined {
    return this.positioned.get(segment);
  }

  /** In a loss's own segment the position decides; in others only the time does, and equal times count as earlier. */
  isAfterStartOf({ first_segment, first_start, started_at }: Row): boolean {
    const segment = Number(first_segment);
    const here = this.within(segment);
    if (here && Number(first_start) < here.offset!) return true;
    const last = this.lastElsewhere(new Map([[segment, true]]));
    return last !== undefined && Number(started_at) <= last.at;
  }

  lastElsewhere(segments: ReadonlyMap<number, unknown>): LostLines | undefined {
    return this.byTime.find(({ segment, offset }) => offset === undefined || !segments.has(segment));
  }
}

function byteRanges(ranges: readonly number[]): ByteRange[] {
  return Array.from({ length: ranges.length / 3 }, (_, index) => {
    const [segment = 0, start = 0, length = 0] = ranges.slice(3 * index, 3 * index + 3);
    return { segment, start, length };
  });
}

const lossOf = ({ at }: LostLines): Loss => ({ event: 'loss', at: new Date(at).toISOString() });

function* splitEvents(bytes: Buffer, from: number): Generator<{ line: Buffer; offset: number }> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    for (const { event, offset } of eventsIn(bytes.subarray(start, end)))
      yield { line: event, offset: from + start + offset };
    start = end + 1;
  }
}

/**
 * For equal times the earlier list comes first. The order within a list stays, and an event from the future comes right
 * after the one before it.
 */
function mergeByTime<E extends { readonly at: string }>(lists: readonly E[][]): E[] {
  if (lists.length <= 1) return lists[0] ?? [];
  // An event follows all earlier ones of its list, whatever its own time.
  const timed = lists.flatMap((list) => {
    let time = Number.NEGATIVE_INFINITY;
    return list.map((event) => ({ event, time: (time = Math.max(time, orderOf(event.at))) }));
  });
  return timed.sort((one, other) => one.time - other.time).map(({ event }) => event);
}

/** Number of episodes that are read whole before they are written. */
const AT_ONCE = 200;

/**
 * Reads whole the episodes for which single lines were not enough.
 * @param since last revision before their lines were read
 * @param changed gets their ids
 */
export async function settle(
  logFolder: string,
  store: IndexStore,
  since: number,
  changed: Set<string>,
): Promise<void> {
  markDoubtful(store, lostLines(store), since, changed);
  const reader = new EpisodeReader(logFolder, store);
  try {
    for (;;) {
      const rows = store.all(`select * from episode where unsettled = 1 limit ${AT_ONCE}`);
      if (rows.length === 0) return;
      const episodes: [Row, Awaited<ReturnType<EpisodeReader['read']>>][] = [];
      for (const row of rows) episodes.push([row, await reader.read(Number(row.number), String(row.id))]);
      for (const [{ number, id, first_segment, first_start, last_at }, episode] of episodes) {
        const revision = store.revision + 1;
        const known = { number, id, first_segment, first_start, last_at, revision, unsettled: 0 };
        const isDamaged = episode?.damage !== undefined || episode?.task === undefined;
        store.putEpisode(rowOf(known, episode?.folding, isDamaged, store));
        changed.add(String(id));
      }
      store.commit();
    }
  } finally {
    await reader.close();
  }
}

/** Marks the episodes that had begun when lines were lost. For one that was deleted or restored, its events decide. */
function markDoubtful(
  store: IndexStore,
  lost: readonly LostLines[],
  since: number,
  changed: Set<string>,
): void {
  if (lost.length === 0) return;
  const text = JSON.stringify(lost);
  const isKnown = store.meta('lost') === text;
  const losses = new KnownLosses(lost);
  const rows = store
    .all(
      `select number, id, first_segment, first_start, started_at, was_deleted from episode
        where started_at is not null and revision > ? and (was_deleted = 1 or doubtful = 0)`,
      isKnown ? since : -1,
    )
    .filter((row) => losses.isAfterStartOf(row));
  if (rows.length === 0 && isKnown) return;
  const revision = store.revision + 1;
  store.setMeta('lost', text);
  for (const { id, number, was_deleted } of rows) {
    changed.add(String(id));
    if (was_deleted === 1) store.write('update episode set unsettled = 1 where number = ?', Number(number));
    else
      store.write('update episode set doubtful = 1, revision = ? where number = ?', revision, Number(number));
  }
  store.commit();
}
