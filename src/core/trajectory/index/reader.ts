import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Fault } from '../../fault';
import type { LogEvent } from '../event';
import { foldEpisode } from '../fold';
import type { Trajectory } from '../trajectory';
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

  constructor(
    private readonly logFolder: string,
    private readonly index: LogIndex,
  ) {}

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
    const { episodes, tasks, ranges } = this.index.parts;
    if (!episodes.isStarted(row)) return undefined;
    const id = episodes.ids[row]!;
    const { events, unreadable } = await this.events(ranges.chain(episodes.columns.lastRange.get(row)), id);
    const taskLine = episodes.columns.taskLine.get(row);
    const task = taskLine < 0 ? undefined : await this.events([tasks.range(taskLine)]);
    if (task?.events.length !== 1) {
      const { taskId } = episodes.summary(row);
      const message = `The log holds episode ${id} but not its task ${taskId}; a file of the log may be missing.`;
      throw new Fault('trajectory/task-missing', message);
    }
    const folded = foldEpisode([...task.events, ...events]);
    if (!folded || unreadable === undefined) return folded;
    const { trajectory, deleted } = folded;
    return { trajectory: { ...trajectory, damaged: trajectory.damaged ?? unreadable }, deleted };
  }

  async close(): Promise<void> {
    for (const handle of this.handles.values()) await (await handle).close();
    this.handles.clear();
  }

  /** The events of some ranges: each segment's in the order of the file, segments merged by time and then name. */
  private async events(
    ranges: readonly ByteRange[],
    episode?: string,
  ): Promise<{ events: LogEvent[]; unreadable: string | undefined }> {
    const bySegment = new Map<number, LogEvent[]>();
    let unreadable: string | undefined;
    const pieces = await Promise.all(ranges.map((range) => this.bytes(range)));
    for (const [index, { segment }] of ranges.entries()) {
      const events = bySegment.get(segment) ?? [];
      bySegment.set(segment, events);
      for (const line of splitLines(pieces[index]!)) {
        const read = readEvent(line);
        if ('reason' in read) unreadable ??= read.reason;
        else if ('event' in read) {
          if (episode === undefined || ('episode' in read.event && read.event.episode === episode)) {
            events.push(read.event);
          } else unreadable ??= 'The log was rewritten while it was read.';
        }
      }
    }
    const { segments } = this.index.parts;
    const inOrder = [...bySegment].sort(([a], [b]) => (segments[a]!.name < segments[b]!.name ? -1 : 1));
    return { events: mergeByTime(inOrder.map(([, events]) => events)), unreadable };
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

function* splitLines(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** Merges lists of events by time, of equal times the earlier list first; the order inside of each list stays. */
function mergeByTime(lists: readonly LogEvent[][]): LogEvent[] {
  if (lists.length <= 1) return lists[0] ?? [];
  const at = lists.map(() => 0);
  const merged: LogEvent[] = [];
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
