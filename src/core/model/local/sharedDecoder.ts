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

interface PlacedRow extends SequenceRow {
  ids: number[];
  place: number;
}

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
 * capacity, head size). A run uses adjacent rows; their lengths may differ, and nothing is copied.
 */
export class SharedDecoder implements Decoder {
  readonly #graph: Graph;
  readonly #together: number;
  readonly #rows: PlacedRow[] = [];
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

  get held(): number {
    return this.#buffers.reduce((bytes, buffer) => bytes + buffer.byteLength, 0);
  }

  open(): SequenceRow {
    const row: PlacedRow = { ids: [], place: this.#rows.length };
    this.#rows.push(row);
    return row;
  }

  close(row: SequenceRow): void {
    const placed = row as PlacedRow;
    const last = this.#rows.at(-1)!;
    if (last !== placed) this.#swap(placed, last);
    this.#rows.pop();
  }

  rest(): void {
    // Nothing to do: every row has its own memory.
  }

  cut(row: SequenceRow, length: number): void {
    (row as PlacedRow).ids.length = length;
  }

  async read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array> {
    const [logits] = await this.#run([row as PlacedRow], ids);
    return logits!;
  }

  async step(rows: readonly SequenceRow[], ids: readonly number[], use: UseLogits): Promise<void> {
    const asked = new Map((rows as readonly PlacedRow[]).map((row, index) => [row, index]));
    this.#gather(asked);
    for (let from = 0; from < rows.length; from += this.#together) {
      const run = this.#rows.slice(from, Math.min(from + this.#together, rows.length));
      const indices = run.map((row) => asked.get(row)!);
      const made = await this.#run(
        run,
        indices.map((index) => ids[index]!),
      );
      for (const [at, index] of indices.entries()) use(index, made[at]!);
    }
  }

  #gather(asked: ReadonlyMap<PlacedRow, number>): void {
    let free = 0;
    for (const row of asked.keys()) {
      if (row.place < asked.size) continue;
      while (asked.has(this.#rows[free]!)) free++;
      this.#swap(row, this.#rows[free]!);
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

  /**
   * Leaves reserve for growth if memory allows. Also releases capacity far above the longest row, because each run
   * copies every position of its rows (see `OutputGarbage`).
   */
  #reserve(width: number): void {
    const longest = this.#rows.reduce((length, row) => Math.max(length, row.ids.length), width);
    const roomy = longest + Math.max(GROWTH, longest / 16);
    const rows = this.#rows.length;
    const places = rows <= this.#places ? this.#places : Math.max(4, 2 * rows);
    const capacity =
      longest <= this.#capacity && this.#capacity < 2 * roomy ? this.#capacity : roundUp(roomy);
    if (places === this.#places && capacity === this.#capacity) return;
    if (this.bytesFor(places, capacity) <= this.memoryBytes) this.#lay(places, capacity);
    else this.#lay(rows, roundUp(longest));
  }

  #lay(places: number, capacity: number): void {
    const { heads, headSize } = this.#graph;
    for (const [index, old] of this.#buffers.entries()) {
      const buffer = new Float32Array(places * heads * capacity * headSize);
      for (const { place, ids } of this.#rows) {
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
    this.#rows[one.place] = one;
    this.#rows[other.place] = other;
  }
}

const roundUp = (tokens: number): number => GROWTH * Math.ceil(tokens / GROWTH);
