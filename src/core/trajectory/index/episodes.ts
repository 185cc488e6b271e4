import type { LogEvent } from '../event';
import { foldEvent, type Folding } from '../fold';
import { isFuture } from '../segment/line';
import { rowOf } from './rows';
import type { IndexStore, Ranges } from './store';

export interface Held {
  readonly id: string;
  readonly number: number;
  /** Where its first line is; undefined before there is one. */
  first: { readonly segment: number; readonly start: number } | undefined;
  /** Those from the last written row of `lines` on, whose number is `part`. */
  ranges: Ranges;
  part: number;
  lastAt: number;
  folding: Folding | undefined;
  /** True if `folding` contains all of its lines in order; otherwise the episode must be read whole. */
  isWhole: boolean;
  /** True if lines were added since it was written. */
  hasChanged: boolean;
  /** True if lines were added since the last `putAway`. */
  isRecent: boolean;
}

/** Above this number, inactive episodes are put away even if they are open. */
const MAX_CACHED = 2000;
/**
 * Up to this number, finished episodes stay in memory after all lines are read, so that events that follow do not
 * require reading them whole.
 */
const KEPT = 256;

/**
 * The episodes whose lines are being read. Their events are folded as they come, and the result is written when an
 * episode has ended, so that few of them are in memory at once.
 */
export class Episodes {
  /** Ids of episodes changed by this process or another one; the caller clears it. */
  readonly changed = new Set<string>();
  private held = new Map<string, Held>();
  /** Numbers of all episodes while the index is first built; afterwards they are looked up in the store. */
  private numbers: Map<string, number> | undefined;

  constructor(private readonly store: IndexStore) {}

  begin(): void {
    this.numbers = this.store.next === 0 ? new Map() : undefined;
  }

  forget(): void {
    this.held.clear();
  }

  find(id: string): Held | undefined {
    const held = this.held.get(id);
    if (held) return held;
    const known = this.numbers?.get(id);
    if (this.numbers && known === undefined) return undefined;
    const sql = `select number, first_segment as segment, first_start as start, last_at from episode
      where ${known === undefined ? 'id' : 'number'} = ?`;
    const row = this.store.get<{ number: number; segment: number; start: number; last_at: number }>(
      sql,
      known ?? id,
    );
    if (!row) return undefined;
    const { number, last_at: lastAt, ...first } = row;
    return this.hold({ id, number, first, ...this.store.lastPart(number), lastAt, isWhole: false });
  }

  /**
   * @param at time of the event
   * @param hasTask whether the segment has the task of an episode that starts
   */
  add(id: string, at: number, event: LogEvent, hasTask: boolean, line: Line): void {
    const held = this.find(id) ?? this.begun(id);
    const isFirst = held.first === undefined;
    // After lines before the start, or a second start, only the whole episode gives the result.
    if (event.event === 'episode-started' && (!isFirst || !hasTask)) held.isWhole = false;
    // Segments are merged by time, which reading need not follow; equal times are ordered by segment name.
    const isElsewhere = !isFirst && held.ranges.at(-3) !== line.segment;
    const isAhead = isFuture(at);
    if (at < held.lastAt || (at === held.lastAt && isElsewhere) || isAhead) held.isWhole = false;
    if (held.isWhole) held.folding = foldEvent(held.folding, event);
    addRange(held, line);
    if (isAhead) return;
    held.lastAt = Math.max(held.lastAt, at);
    this.store.newest = Math.max(this.store.newest, at);
  }

  /** Reading the episode whole will show that it is damaged. */
  addUnreadable(held: Held, line: Line): void {
    held.isWhole = false;
    addRange(held, line);
  }

  /** Writes and drops the finished episodes to which nothing was added since the last call. */
  putAway(): void {
    const areMany = this.held.size > MAX_CACHED;
    // In V8 a map that lost and gained many entries keeps memory for those it lost.
    const kept = new Map<string, Held>();
    for (const [id, held] of this.held) {
      const isDone = !held.isRecent && (areMany || hasEnded(held));
      if (isDone) this.put(held);
      else kept.set(id, held);
      held.isRecent = false;
    }
    this.held = kept;
  }

  putAll(): void {
    for (const held of this.held.values()) {
      this.put(held);
      if (!held.isWhole) this.held.delete(held.id);
    }
  }

  /** Drops what need not stay in memory, once all lines are read and written. */
  end(): void {
    this.numbers = undefined;
    if (this.held.size <= KEPT) return;
    for (const held of this.held.values()) if (hasEnded(held)) this.held.delete(held.id);
  }

  private next(id: string): number {
    const number = this.store.next++;
    this.numbers?.set(id, number);
    return number;
  }

  private begun(id: string): Held {
    const number = this.next(id);
    return this.hold({ id, number, first: undefined, part: 0, ranges: [], lastAt: 0, isWhole: true });
  }

  private hold(known: Omit<Held, 'folding' | 'hasChanged' | 'isRecent'>): Held {
    const held: Held = { ...known, folding: undefined, hasChanged: false, isRecent: true };
    this.held.set(held.id, held);
    return held;
  }

  private put(held: Held): void {
    if (!held.hasChanged) return;
    held.hasChanged = false;
    this.changed.add(held.id);
    const { store } = this;
    const { id, number, lastAt, folding, isWhole } = held;
    const { segment: first_segment, start: first_start } = held.first ?? { segment: 0, start: 0 };
    const revision = store.revision + 1;
    Object.assign(held, store.putRanges(number, held));
    if (isWhole) {
      const known = { number, id, first_segment, first_start, last_at: lastAt, unsettled: 0, revision };
      store.putEpisode(rowOf(known, folding, false, store));
    } else store.write(UNSETTLED, number, id, first_segment, first_start, lastAt, revision);
  }
}

/** Keeps what is known of an episode until it is read whole. */
const UNSETTLED = `insert into episode (number, id, first_segment, first_start, last_at, unsettled, revision)
  values (?, ?, ?, ?, ?, 1, ?)
  on conflict (number) do update set last_at = excluded.last_at, unsettled = 1, revision = excluded.revision`;

export interface Line {
  readonly segment: number;
  readonly start: number;
  /** Without the line feed. */
  readonly length: number;
}

const hasEnded = ({ folding }: Held): boolean => (folding?.answer ?? folding?.abandoned) !== undefined;

function addRange(held: Held, { segment, start, length }: Line): void {
  const { ranges } = held;
  held.first ??= { segment, start };
  held.hasChanged = true;
  held.isRecent = true;
  const last = ranges.length - 1;
  if (ranges[last - 2] === segment && ranges[last - 1]! + ranges[last]! + 1 === start)
    ranges[last]! += length + 1;
  else ranges.push(segment, start, length);
}
