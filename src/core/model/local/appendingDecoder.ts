import { Tensor } from './runtime';
import { BufferedDecoder, bytesOfRow, type BufferedRow, type PlacedRow } from './bufferedDecoder';
import type { ScoreKind, SequenceRow, UseScores } from './decoder';
import { GARBAGE, bytesPerToken, CHUNK, copyHeads, free, lastLogits } from './graph';

/**
 * For graphs that only read keys and values, and return those of new tokens alone. A row is read apart, so that a
 * prompt attends to no more than its own dialogue has; for a step it needs a place beside the others.
 */
export class AppendingDecoder extends BufferedDecoder {
  override bytesFor(rows: number, length: number): number {
    const row = bytesOfRow(this.graph, length);
    // One buffer exists twice while the layout changes. One row is in memory once more when it changes between its
    // place and its own memory, and up to twice more while it is read: `cut` leaves up to half of it unused.
    const copied = (rows * row) / this.graph.caches.length + 2 * row + CHUNK * bytesPerToken(this.graph);
    return rows * row + copied + GARBAGE + this.logits.bytesFor(Math.min(rows, this.together), CHUNK);
  }

  /** A new row has one place, which is empty: WebGPU ends the process when a tensor is. */
  override open(): BufferedRow {
    const { caches, heads, headSize } = this.graph;
    const row = super.open();
    this.replaceOwn(row, new Float32Array(caches.length * heads * headSize), 1);
    return row;
  }

  override async read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array> {
    const read = row as BufferedRow;
    this.rest(read);
    this.trim((read.ids.length + ids.length) * bytesPerToken(this.graph));
    const { caches } = this.graph;
    const size = read.own.length / caches.length;
    const past = caches.map((_, index) => read.own.subarray(index * size, (index + 1) * size));
    const { scores, fresh } = await this.#run([read], ids, past, read.kept, 'logits');
    this.#lengthen(read, fresh, ids.length);
    free(fresh);
    read.ids.push(...ids);
    return scores[0]!;
  }

  override async step(
    rows: readonly SequenceRow[],
    ids: readonly number[],
    use: UseScores,
    kind: ScoreKind = 'logits',
  ): Promise<void> {
    const asked = new Map((rows as readonly BufferedRow[]).map((row, index) => [row, index]));
    for (const row of [...this.placed]) if (!asked.has(row)) this.rest(row);
    for (const row of asked.keys()) this.place(row);
    this.reserve(Math.max(...[...asked.keys()].map((row) => row.ids.length + 1)));
    await this.moveAfter(async () => {
      for (let from = 0; from < rows.length; from += this.together) {
        const run = this.placed.slice(from, from + this.together);
        const indices = run.map((row) => asked.get(row)!);
        const next = indices.map((index) => ids[index]!);
        const past = this.graph.caches.map((_, index) => this.part(index, from, run.length));
        const { scores, fresh } = await this.#run(run, next, past, this.capacity, kind);
        this.#append(run, fresh);
        free(fresh);
        for (const [at, row] of run.entries()) row.ids.push(next[at]!);
        for (const [at, index] of indices.entries()) use(index, scores[at]!);
      }
    });
  }

  /**
   * @param ids ids in row order, equally many for each row
   * @param past by cache. Shape: (rows, heads, width, head size)
   * @returns `fresh`: keys and values of the new tokens. Shape: (rows, caches, heads, tokens of a row, head size)
   */
  async #run(
    rows: readonly BufferedRow[],
    ids: readonly number[],
    past: readonly Float32Array[],
    width: number,
    kind: ScoreKind,
  ): Promise<{ readonly scores: Float32Array[]; readonly fresh: Float32Array }> {
    const { session, caches, heads, headSize } = this.graph;
    const each = ids.length / rows.length;
    const lengths = BigInt64Array.from(rows, (row) => BigInt(row.ids.length));
    const feeds: Record<string, Tensor> = {
      input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [rows.length, each]),
      past_lengths: new Tensor('int64', lengths, [rows.length]),
    };
    if (this.graph.takesLogitCount) feeds.num_logits_to_keep = new Tensor('int64', [1n], []);
    for (const [index, { past: name }] of caches.entries())
      feeds[name] = new Tensor('float32', past[index]!, [rows.length, heads, width, headSize]);
    const scores = this.logits.tensor(rows.length, each);
    this.garbage.before((scores.data as Float32Array).byteLength);
    const made = await session.run(feeds, { [kind]: scores, new_key_values: null });
    return { scores: lastLogits(scores), fresh: made.new_key_values!.data as Float32Array };
  }

  /** Lays a row that is kept apart out anew, with `count` tokens at its end. */
  #lengthen(row: BufferedRow, fresh: Float32Array, count: number): void {
    const { caches, heads, headSize } = this.graph;
    const [before, added] = [row.ids.length * headSize, count * headSize];
    const own = new Float32Array(caches.length * heads * (before + added));
    const stride = before + added;
    const kept = { data: row.own, start: 0, stride: row.kept * headSize };
    copyHeads(caches.length * heads, before, kept, { data: own, start: 0, stride });
    const made = { data: fresh, start: 0, stride: added };
    copyHeads(caches.length * heads, added, made, { data: own, start: before, stride });
    this.replaceOwn(row, own, row.ids.length + count);
  }

  /** Writes one token behind those of each row. */
  #append(rows: readonly PlacedRow[], fresh: Float32Array): void {
    const { heads, headSize } = this.graph;
    const { buffers, capacity } = this;
    let from = 0;
    for (const { place, ids } of rows)
      for (const buffer of buffers)
        for (let head = 0; head < heads; head++) {
          const to = ((place * heads + head) * capacity + ids.length) * headSize;
          // Faster than `set`, which needs a new view of each head.
          for (let at = 0; at < headSize; at++) buffer[to + at] = fresh[from + at]!;
          from += headSize;
        }
  }
}
