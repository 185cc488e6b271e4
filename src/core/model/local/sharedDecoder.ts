import { Tensor } from './runtime';
import type { Decoder, SequenceRow, UseLogits } from './decoder';
import {
  GARBAGE,
  OutputGarbage,
  bytesPerToken,
  CHUNK,
  free,
  lastLogits,
  LogitMemory,
  SMALL_WEIGHTS,
  tokenFeeds,
  type Graph,
} from './graph';

interface OwnRow extends SequenceRow {
  ids: number[];
  /** In the buffers; undefined while the row rests. */
  place: number | undefined;
  /** Keys and values while it rests. Shape: (caches, heads, `kept`, head size). */
  own: Float32Array;
  /** Number of tokens in `own`, at least those of `ids`. */
  kept: number;
}

type PlacedRow = OwnRow & { place: number };

/** Rows grow by this many tokens, or by a sixteenth of their length if that is more. */
const GROWTH = 16;
/** Computed together if the weights stay in the cache, so that keys and values do too. */
const ROWS_OF_SMALL_GRAPH = 16;
const ROWS_OF_LARGE_GRAPH = 64;

/** True if the graph can write keys and values into the memory that it reads them from. */
export async function keepsKeysInPlace(graph: Graph): Promise<boolean> {
  const { session, caches, heads, headSize } = graph;
  const capacity = 8;
  const feeds = tokenFeeds(graph, { ids: [0], rows: 1, before: [0], width: 1, from: [0] });
  const fetches: Record<string, Tensor | null> = { logits: null };
  for (const { past, present } of caches) {
    const dims = [1, heads, capacity, headSize];
    const buffer = new Tensor('float32', new Float32Array(heads * capacity * headSize), dims);
    feeds[past] = buffer;
    fetches[present] = buffer;
  }
  try {
    await session.run(feeds, fetches, { logSeverityLevel: 4 });
    return true;
  } catch {
    // A graph that appends needs memory for nine positions and gets only eight.
    return false;
  }
}

/**
 * For graphs with GroupQueryAttention. Each layer has one buffer for keys and one for values. Shape: (places, heads,
 * capacity, head size). A run uses adjacent rows; their lengths may differ, and nothing is copied. The binding copies
 * every position of the rows of a run, so only rows that are used have a place: one that rests is kept apart, at its
 * own length.
 */
export class SharedDecoder implements Decoder {
  readonly #graph: Graph;
  readonly #together: number;
  /** By their places. */
  readonly #placed: PlacedRow[] = [];
  readonly #logits: LogitMemory;
  readonly #garbage = new OutputGarbage();
  #buffers: Float32Array[];
  /**
   * Memory for one head of one row while two rows swap places; allocating it each time would cost more than the
   * copies.
   */
  #spare = new Float32Array(0);
  #places = 0;
  #capacity = 0;
  /** Bytes of resting rows. */
  #resting = 0;
  #isStepping = false;
  #moves: (() => void)[] = [];

  constructor(
    graph: Graph,
    bytes: number,
    private readonly memoryBytes: number,
  ) {
    this.#graph = graph;
    this.#logits = new LogitMemory(graph);
    this.#together = bytes <= SMALL_WEIGHTS ? ROWS_OF_SMALL_GRAPH : ROWS_OF_LARGE_GRAPH;
    this.#buffers = graph.caches.map(() => new Float32Array(0));
  }

  bytesFor(rows: number, length: number): number {
    const { caches } = this.#graph;
    const row = roundUp(length) * bytesPerToken(this.#graph);
    const together = Math.min(rows, this.#together);
    // One buffer exists twice while the layout changes; a run copies the places of its rows.
    const copied = (rows * row) / caches.length + together * row + GARBAGE;
    return rows * row + copied + this.#logits.bytesFor(together, CHUNK);
  }

  bytesAtRest(length: number): number {
    return length * bytesPerToken(this.#graph);
  }

  get held(): number {
    return this.#buffers.reduce((bytes, buffer) => bytes + buffer.byteLength, this.#resting);
  }

  open(): SequenceRow {
    const row: OwnRow = { ids: [], place: undefined, own: new Float32Array(0), kept: 0 };
    return row;
  }

  close(row: SequenceRow): void {
    const own = row as OwnRow;
    this.#afterStep(() => {
      if (isPlaced(own)) this.#vacate(own);
      else this.#forget(own);
    });
  }

  rest(row: SequenceRow): void {
    this.#afterStep(() => this.#moveOut(row as OwnRow));
  }

  /** A row that ends while others step must not move those: their places are those of the runs to come. */
  #afterStep(move: () => void): void {
    if (this.#isStepping) this.#moves.push(move);
    else move();
  }

  #moveOut(own: OwnRow): void {
    if (!isPlaced(own)) return;
    const { heads, headSize, caches } = this.#graph;
    const { place } = own;
    const length = own.ids.length * headSize;
    own.own = new Float32Array(caches.length * heads * length);
    own.kept = own.ids.length;
    this.#resting += own.own.byteLength;
    for (const [index, buffer] of this.#buffers.entries()) {
      for (let head = 0; head < heads; head++) {
        const from = (place * heads + head) * this.#capacity * headSize;
        own.own.set(buffer.subarray(from, from + length), (index * heads + head) * length);
      }
    }
    this.#vacate(own);
  }

  cut(row: SequenceRow, length: number): void {
    (row as OwnRow).ids.length = length;
  }

  async read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array> {
    const [logits] = await this.#run([this.#place(row as OwnRow)], ids);
    return logits!;
  }

  async step(rows: readonly SequenceRow[], ids: readonly number[], use: UseLogits): Promise<void> {
    const asked = new Map((rows as readonly OwnRow[]).map((row, index) => [this.#place(row), index]));
    this.#gather(asked);
    this.#isStepping = true;
    try {
      for (let from = 0; from < rows.length; from += this.#together) {
        const run = this.#placed.slice(from, Math.min(from + this.#together, rows.length));
        const indices = run.map((row) => asked.get(row)!);
        const made = await this.#run(
          run,
          indices.map((index) => ids[index]!),
        );
        for (const [at, index] of indices.entries()) use(index, made[at]!);
      }
    } finally {
      this.#isStepping = false;
      for (const move of this.#moves.splice(0)) move();
    }
  }

  #gather(asked: ReadonlyMap<PlacedRow, number>): void {
    let free = 0;
    for (const row of asked.keys()) {
      if (row.place < asked.size) continue;
      while (asked.has(this.#placed[free]!)) free++;
      this.#swap(row, this.#placed[free]!);
    }
  }

  /** @param ids ids in row order, equally many for each row */
  async #run(rows: readonly PlacedRow[], ids: readonly number[]): Promise<Float32Array[]> {
    const { session, caches, heads, headSize } = this.#graph;
    const each = ids.length / rows.length;
    const before = rows.map((row) => row.ids.length);
    const width = Math.max(...before) + each;
    this.#reserve(width);
    const feeds = tokenFeeds(this.#graph, {
      ids,
      rows: rows.length,
      before,
      width,
      from: before.map(() => 0),
    });
    const logits = this.#logits.tensor(rows.length, each);
    const fetches: Record<string, Tensor> = { logits };
    const stride = heads * this.#capacity * headSize;
    const first = rows[0]!.place;
    for (const [index, { past, present }] of caches.entries()) {
      const memory = this.#buffers[index]!.subarray(first * stride, (first + rows.length) * stride);
      const tensor = new Tensor('float32', memory, [rows.length, heads, this.#capacity, headSize]);
      feeds[past] = tensor;
      fetches[present] = tensor;
    }
    this.#garbage.before(rows.length * this.#capacity * bytesPerToken(this.#graph));
    await session.run(feeds, fetches);
    for (const [index, row] of rows.entries())
      for (let at = index * each; at < (index + 1) * each; at++) row.ids.push(ids[at]!);
    return lastLogits(logits);
  }

  /** Gives a row a place in the buffers, if it has none. */
  #place(row: OwnRow): PlacedRow {
    if (isPlaced(row)) return row;
    const { heads, headSize } = this.#graph;
    const placed = Object.assign(row, { place: this.#placed.length });
    this.#reserve(row.ids.length, this.#placed.length + 1);
    this.#placed.push(placed);
    const length = row.ids.length * headSize;
    for (const [index, buffer] of length === 0 ? [] : this.#buffers.entries()) {
      for (let head = 0; head < heads; head++) {
        const from = (index * heads + head) * row.kept * headSize;
        buffer.set(
          row.own.subarray(from, from + length),
          (placed.place * heads + head) * this.#capacity * headSize,
        );
      }
    }
    this.#forget(row);
    return placed;
  }

  /** The last row moves into the place. */
  #vacate(row: PlacedRow): void {
    const { heads, headSize } = this.#graph;
    const last = this.#placed.pop()!;
    if (last !== row) {
      const length = last.ids.length * headSize;
      for (const buffer of this.#buffers) {
        for (let head = 0; head < heads; head++) {
          const from = (last.place * heads + head) * this.#capacity * headSize;
          buffer.copyWithin((row.place * heads + head) * this.#capacity * headSize, from, from + length);
        }
      }
      last.place = row.place;
      this.#placed[last.place] = last;
    }
    (row as OwnRow).place = undefined;
    if (this.#placed.length === 0) this.#lay(0, 0);
  }

  #forget(row: OwnRow): void {
    this.#resting -= row.own.byteLength;
    free(row.own);
    row.own = new Float32Array(0);
    row.kept = 0;
  }

  /** Leaves reserve for growth if memory allows, and releases what is far above the longest row. */
  #reserve(width: number, rows = this.#placed.length): void {
    const longest = this.#placed.reduce((length, row) => Math.max(length, row.ids.length), width);
    const roomy = longest + Math.max(GROWTH, longest / 16);
    const isTooMany = this.#places > 4 * rows;
    const places =
      rows <= this.#places && !isTooMany ? this.#places : Math.max(rows, 2 * this.#placed.length);
    const capacity =
      longest <= this.#capacity && this.#capacity < 2 * roomy ? this.#capacity : roundUp(roomy);
    if (places === this.#places && capacity === this.#capacity) return;
    if (this.bytesFor(places, capacity) + this.#resting <= this.memoryBytes) this.#lay(places, capacity);
    else this.#lay(rows, roundUp(longest));
  }

  #lay(places: number, capacity: number): void {
    const { heads, headSize } = this.#graph;
    for (const [index, old] of this.#buffers.entries()) {
      const buffer = new Float32Array(places * heads * capacity * headSize);
      for (const { place, ids } of this.#placed) {
        for (let head = place * heads; head < (place + 1) * heads; head++) {
          const from = head * this.#capacity * headSize;
          buffer.set(old.subarray(from, from + ids.length * headSize), head * capacity * headSize);
        }
      }
      this.#buffers[index] = buffer;
      free(old);
    }
    this.#places = places;
    this.#capacity = capacity;
  }

  #swap(one: PlacedRow, other: PlacedRow): void {
    const { heads, headSize } = this.#graph;
    const longest = Math.max(one.ids.length, other.ids.length) * headSize;
    if (this.#spare.length < longest) this.#spare = new Float32Array(this.#capacity * headSize);
    for (const buffer of longest === 0 ? [] : this.#buffers) {
      for (let head = 0; head < heads; head++) {
        const a = (one.place * heads + head) * this.#capacity * headSize;
        const b = (other.place * heads + head) * this.#capacity * headSize;
        this.#spare.set(buffer.subarray(a, a + longest));
        buffer.copyWithin(a, b, b + longest);
        buffer.set(this.#spare.subarray(0, longest), b);
      }
    }
    [one.place, other.place] = [other.place, one.place];
    this.#placed[one.place] = one;
    this.#placed[other.place] = other;
  }
}

const isPlaced = (row: OwnRow): row is PlacedRow => row.place !== undefined;

const roundUp = (tokens: number): number => GROWTH * Math.ceil(tokens / GROWTH);
