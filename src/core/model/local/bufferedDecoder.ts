import type { Decoder, ScoreKind, SequenceRow, UseScores } from './decoder';
import {
  bytesPerToken,
  copyHeads,
  free,
  type Heads,
  LogitMemory,
  OutputGarbage,
  rowsTogether,
  type Graph,
} from './graph';

export interface BufferedRow extends SequenceRow {
  ids: number[];
  /** In the buffers; undefined while the row is kept apart. */
  place: number | undefined;
  /** Keys and values while it is kept apart. Shape: (caches, heads, `kept`, head size). */
  own: Float32Array;
  /** Number of tokens in `own`, at least those of `ids`. */
  kept: number;
}

export type PlacedRow = BufferedRow & { place: number };

/** Rows grow by this many tokens, or by a sixteenth of their length if that is more. */
const GROWTH = 16;

/**
 * Keeps the keys and values of its rows; how a graph reads and writes them is that of the classes below it. Each layer has
 * one buffer for keys and one for values, in which rows that are used together are neighbours. Shape: (places, heads,
 * capacity, head size). A row that rests is kept apart, at its own length, because every place is as long as the longest.
 */
export abstract class BufferedDecoder implements Decoder {
  /** Number of rows of one run. */
  protected readonly together: number;
  protected readonly logits: LogitMemory;
  protected readonly garbage = new OutputGarbage();
  /** By their places. */
  protected readonly placed: PlacedRow[] = [];
  /** One for each of the graph's caches. */
  protected readonly buffers: Float32Array[];
  /** Tokens that each place of the buffers has memory for. */
  protected capacity = 0;
  #places = 0;
  /** Bytes of rows that are kept apart. */
  #apart = 0;
  /** Memory for one head of one row while two rows swap places; allocating it each time would cost more than the copies. */
  #spare = new Float32Array(0);
  #isStepping = false;
  #moves: (() => void)[] = [];

  /**
   * @param bytes of the weights
   * @param memoryBytes memory for all else
   */
  constructor(
    protected readonly graph: Graph,
    bytes: number,
    private readonly memoryBytes: number,
  ) {
    this.logits = new LogitMemory(graph);
    this.together = rowsTogether(bytes);
    this.buffers = graph.caches.map(() => new Float32Array(0));
  }

  /** Of places as of rows. */
  abstract bytesFor(rows: number, length: number): number;
  abstract read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array>;
  abstract step(
    rows: readonly SequenceRow[],
    ids: readonly number[],
    use: UseScores,
    kind?: ScoreKind,
  ): Promise<void>;

  get givesProbabilities(): boolean {
    return this.graph.makesProbabilities;
  }

  bytesAtRest(length: number): number {
    return length * bytesPerToken(this.graph);
  }

  get held(): number {
    return this.buffers.reduce((bytes, buffer) => bytes + buffer.byteLength, this.#apart);
  }

  open(): BufferedRow {
    return { ids: [], place: undefined, own: new Float32Array(0), kept: 0 };
  }

  close(row: SequenceRow): void {
    this.#afterStep(() => {
      const closed = row as BufferedRow;
      if (isPlaced(closed)) this.#vacate(closed);
      else this.replaceOwn(closed, new Float32Array(0), 0);
    });
  }

  rest(row: SequenceRow): void {
    this.#afterStep(() => this.#moveOut(row as BufferedRow));
  }

  cut(row: SequenceRow, length: number): void {
    (row as BufferedRow).ids.length = length;
  }

  /** The part of buffer `index` that belongs to `count` neighbours. */
  protected part(index: number, first: number, count: number): Float32Array {
    const stride = this.graph.heads * this.capacity * this.graph.headSize;
    return this.buffers[index]!.subarray(first * stride, (first + count) * stride);
  }

  /** Rows that are closed or kept apart meanwhile are moved at its end. */
  protected async moveAfter(run: () => Promise<void>): Promise<void> {
    this.#isStepping = true;
    try {
      await run();
    } finally {
      this.#isStepping = false;
      for (const move of this.#moves.splice(0)) move();
    }
  }

  /** A row that ends while others step must not move those: their places are those of the runs to come. */
  #afterStep(move: () => void): void {
    if (this.#isStepping) this.#moves.push(move);
    else move();
  }

  #moveOut(row: BufferedRow): void {
    if (!isPlaced(row)) return;
    const { heads, headSize, caches } = this.graph;
    const length = row.ids.length * headSize;
    const own = new Float32Array(caches.length * heads * length);
    for (const [index, buffer] of this.buffers.entries()) {
      const to = { data: own, start: index * heads * length, stride: length };
      copyHeads(heads, length, this.#headsAt(row.place, buffer), to);
    }
    this.replaceOwn(row, own, row.ids.length);
    this.#vacate(row);
  }

  protected replaceOwn(row: BufferedRow, own: Float32Array, kept: number): void {
    this.#apart += own.byteLength - row.own.byteLength;
    free(row.own);
    Object.assign(row, { own, kept });
  }

  /** Gives a row a place in the buffers, if it has none. */
  protected place(row: BufferedRow): PlacedRow {
    if (isPlaced(row)) return row;
    const { heads, headSize } = this.graph;
    const placed = Object.assign(row, { place: this.placed.length });
    this.reserve(row.ids.length, this.placed.length + 1);
    this.placed.push(placed);
    const stride = row.kept * headSize;
    for (const [index, buffer] of this.buffers.entries()) {
      const from = { data: row.own, start: index * heads * stride, stride };
      copyHeads(heads, row.ids.length * headSize, from, this.#headsAt(placed.place, buffer));
    }
    this.replaceOwn(row, new Float32Array(0), 0);
    return placed;
  }

  /** The last row moves into the place. */
  #vacate(row: PlacedRow): void {
    const { heads, headSize } = this.graph;
    const last = this.placed.pop()!;
    if (last !== row) {
      for (const buffer of this.buffers) {
        const [from, to] = [this.#headsAt(last.place, buffer), this.#headsAt(row.place, buffer)];
        copyHeads(heads, last.ids.length * headSize, from, to);
      }
      last.place = row.place;
      this.placed[last.place] = last;
    }
    (row as BufferedRow).place = undefined;
    if (this.placed.length === 0) this.#lay(0, 0);
    else if (isRoomy(this.placed.length, this.#places)) this.#lay(this.placed.length, this.capacity);
    else this.trim(0);
  }

  /** Leaves reserve for growth if memory allows, and releases what is far above the longest row. */
  protected reserve(width: number, rows = this.placed.length): void {
    const longest = Math.max(width, this.#longest());
    const roomy = longest + Math.max(GROWTH, longest / 16);
    const places =
      rows <= this.#places && !isRoomy(rows, this.#places)
        ? this.#places
        : Math.max(rows, Math.floor(1.25 * this.placed.length));
    const capacity = longest <= this.capacity && this.capacity < 2 * roomy ? this.capacity : roundUp(roomy);
    if (places === this.#places && capacity === this.capacity) return;
    if (this.bytesFor(places, capacity) + this.#apart <= this.memoryBytes) this.#lay(places, capacity);
    else this.#lay(rows, roundUp(longest));
  }

  /** Gives spare places and reserve up if memory is short for so many bytes more. */
  protected trim(bytes: number): void {
    const needed = this.bytesFor(this.#places, this.capacity) + this.#apart + bytes;
    const [places, capacity] = [this.placed.length, roundUp(this.#longest())];
    const isSpare = places < this.#places || capacity < this.capacity;
    if (needed > this.memoryBytes && isSpare) this.#lay(places, capacity);
  }

  #headsAt(place: number, data: Float32Array, capacity = this.capacity): Heads {
    const stride = capacity * this.graph.headSize;
    return { data, start: place * this.graph.heads * stride, stride };
  }

  #longest(): number {
    return this.placed.reduce((length, { ids }) => Math.max(length, ids.length), 0);
  }

  #lay(places: number, capacity: number): void {
    const { heads, headSize } = this.graph;
    for (const [index, old] of this.buffers.entries()) {
      const buffer = new Float32Array(places * heads * capacity * headSize);
      for (const { place, ids } of this.placed) {
        const from = this.#headsAt(place, old);
        copyHeads(heads, ids.length * headSize, from, this.#headsAt(place, buffer, capacity));
      }
      this.buffers[index] = buffer;
      free(old);
    }
    this.#places = places;
    this.capacity = capacity;
  }

  protected swap(one: PlacedRow, other: PlacedRow): void {
    const { heads, headSize } = this.graph;
    const longest = Math.max(one.ids.length, other.ids.length) * headSize;
    if (this.#spare.length < longest) this.#spare = new Float32Array(this.capacity * headSize);
    for (const buffer of longest === 0 ? [] : this.buffers) {
      for (let head = 0; head < heads; head++) {
        const a = (one.place * heads + head) * this.capacity * headSize;
        const b = (other.place * heads + head) * this.capacity * headSize;
        this.#spare.set(buffer.subarray(a, a + longest));
        buffer.copyWithin(a, b, b + longest);
        buffer.set(this.#spare.subarray(0, longest), b);
      }
    }
    [one.place, other.place] = [other.place, one.place];
    this.placed[one.place] = one;
    this.placed[other.place] = other;
  }
}

/** True for a quarter or more without rows: places are as long as the longest row, and rows that left have memory apart. */
const isRoomy = (rows: number, places: number): boolean => 4 * rows <= 3 * places;

const isPlaced = (row: BufferedRow): row is PlacedRow => row.place !== undefined;

/** Tokens that a row of this length has memory for, at most. */
export const roundUp = (tokens: number): number => GROWTH * Math.ceil(tokens / GROWTH);

/** Upper bound in bytes for a row of this length, with what rounding up adds. */
export const bytesOfRow = (graph: Graph, length: number): number => roundUp(length) * bytesPerToken(graph);
