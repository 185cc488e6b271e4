import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../fault';
import type { LogEvent } from '../event';
import type { EventOf } from '../event';
import { foldEpisode, type Loss } from '../fold';
import { eventsIn } from '../segment/line';
import type { Trajectory } from '../trajectory';
import { lostLines, type LostLines } from './doubt';
import type { LogIndex } from './logIndex';
import { readEvent } from './read';

interface ByteRange {
  readonly segment: number;
  readonly start: number;
  readonly length: number;
}

/** Reads single episodes by their byte ranges. Files it opened stay open until it is closed. */
export class EpisodeReader {
  private readonly handles = new Map<number, Promise<FileHandle>>();
  private readonly lost: readonly LostLines[];

  constructor(
    private readonly logFolder: string,
    private readonly index: LogIndex,
  ) {
    this.lost = lostLines(index.parts);
  }

  /**
   * The trajectory of a row; undefined when it never started or was deleted.
   * @throws {Fault} `trajectory/task-missing` when the log holds the episode but not its task
   */
  async trajectory(row: number): Promise<Trajectory | undefined> {
    const episode = await this.episode(row);
    return episode?.deleted === false ? episode.trajectory : undefined;
  }

  /** As `trajectory`, also of an episode that was deleted. */
  async episode(row: number): Promise<ReturnType<typeof foldEpisode>> {
    const { episodes, ranges } = this.index.parts;
    if (!episodes.isStarted(row)) return undefined;
    const id = episodes.ids[row]!;
    const chain = ranges.chain(episodes.columns.lastRange.get(row));
    const { events, unreadable, startedIn } = await this.events(chain, id, this.lost);
    const task = await this.task(row, startedIn);
    if (!task) {
      const { taskId } = episodes.summary(row);
      const message = `The log holds episode ${id} but not its task ${taskId}: the line of the task is damaged, or a file of the log is missing.`;
      throw new Fault('trajectory/task-missing', message);
    }
    const folded = foldEpisode([task.event, ...events]);
    const damage = unreadable ?? task.doubt;
    if (!folded || damage === undefined) return folded;
    const { trajectory, deleted } = folded;
    return { trajectory: { ...trajectory, damaged: trajectory.damaged ?? damage }, deleted };
  }

  /**
   * The task of an episode, as the segment has it in which the episode began. Where that cannot be read, the copies of
   * other segments stand for it; when they differ, nobody can tell which of them was played: `doubt` says so.
   */
  private async task(
    row: number,
    segment: number | undefined,
  ): Promise<{ readonly event: EventOf<'task'>; readonly doubt?: string } | undefined> {
    const { episodes, tasks } = this.index.parts;
    const line = this.index.taskLine(row);
    if (line < 0) return undefined;
    const own = tasks.range(line);
    const event = own.segment === segment ? await this.taskAt(own) : undefined;
    if (event) return { event };
    const others = [];
    for (const copy of tasks.copies(episodes.columns.task.get(row))) others.push(await this.taskAt(copy));
    const readable = others.filter((other) => other !== undefined);
    const last = readable.at(-1);
    if (!last || readable.every(({ task }) => isDeepStrictEqual(task, last.task)))
      return last && { event: last };
    const doubt = `The task ${last.task.id} cannot be read where this dialogue began, and elsewhere the log has different ones of that id.`;
    return { event: last, doubt };
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
   * The events of some ranges: each segment's in the order of the file, segments merged by time and then name.
   * @param lost is put among them where it stands; of the same time as an event it stands behind that
   */
  private async events(
    ranges: readonly ByteRange[],
    episode?: string,
    lost: readonly LostLines[] = [],
  ): Promise<{
    events: (LogEvent | Loss)[];
    unreadable: string | undefined;
    /** The segment in which the episode began last. */
    startedIn: number | undefined;
  }> {
    const bySegment = new Map<number, (LogEvent | Loss)[]>();
    const left = new Set(lost);
    let unreadable: string | undefined;
    let startedIn: number | undefined;
    const pieces = await Promise.all(ranges.map((range) => this.bytes(range)));
    for (const [index, { segment, start }] of ranges.entries()) {
      const events = bySegment.get(segment) ?? [];
      bySegment.set(segment, events);
      const here = lost.find((one) => one.segment === segment && one.offset !== undefined);
      for (const { line, offset } of splitEvents(pieces[index]!, start)) {
        if (here && offset >= here.offset! && left.delete(here)) events.push(lossOf(here));
        const read = readEvent(line);
        if ('reason' in read) unreadable ??= read.reason;
        else if ('event' in read) {
          if (episode === undefined || ('episode' in read.event && read.event.episode === episode)) {
            events.push(read.event);
            if (read.event.event === 'episode-started') startedIn = segment;
          } else unreadable ??= 'The log was rewritten while it was read.';
        }
      }
    }
    const { segments } = this.index.parts;
    const inOrder = [...bySegment].sort(([a], [b]) => (segments[a]!.name < segments[b]!.name ? -1 : 1));
    for (const one of left) {
      const own = one.offset === undefined ? undefined : bySegment.get(one.segment);
      if (own) own.push(lossOf(one));
      else inOrder.push([one.segment, [lossOf(one)]]);
    }
    return { events: mergeByTime(inOrder.map(([, events]) => events)), unreadable, startedIn };
  }

  private async bytes({ segment, start, length }: ByteRange): Promise<Buffer> {
    let opening = this.handles.get(segment);
    if (!opening) {
      opening = open(join(this.logFolder, this.index.parts.segments[segment]!.name), 'r');
      this.handles.set(segment, opening);
    }
    const handle = await opening;
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, start);
    return buffer.subarray(0, bytesRead);
  }
}

const lossOf = ({ at }: LostLines): Loss => ({ event: 'loss', at: new Date(at).toISOString() });

/** The events in some bytes of a file. @param from where the bytes begin in it */
function* splitEvents(bytes: Buffer, from: number): Generator<{ line: Buffer; offset: number }> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    for (const event of eventsIn(bytes, start, end))
      yield { line: bytes.subarray(event.start, event.end), offset: from + event.start };
    start = end + 1;
  }
}

/** Merges lists of events by time, of equal times the earlier list first; the order inside of each list stays. */
function mergeByTime<E extends { readonly at: string }>(lists: readonly E[][]): E[] {
  if (lists.length <= 1) return lists[0] ?? [];
  const at = lists.map(() => 0);
  const merged: E[] = [];
  for (;;) {
    let next = -1;
    let nextTime = Number.POSITIVE_INFINITY;
    for (const [index, list] of lists.entries()) {
      const event = list[at[index]!];
      const time = event && Date.parse(event.at);
      if (time !== undefined && time < nextTime) {
        next = index;
        nextTime = time;
      }
    }
    if (next === -1) return merged;
    merged.push(lists[next]![at[next]!]!);
    at[next]! += 1;
  }
}
