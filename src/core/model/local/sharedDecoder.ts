import { Tensor } from './runtime';
import { BufferedDecoder, bytesOfRow, type BufferedRow, type PlacedRow } from './bufferedDecoder';
import type { SequenceRow, UseScores } from './decoder';
import { GARBAGE, bytesPerToken, CHUNK, lastLogits, tokenFeeds, type Graph } from './graph';

/** True if the graph can write keys and values into the memory that it reads them from. */
export async function keepsKeysInPlace(graph: Graph): Promise<boolean> {
  const { session, caches, heads, headSize } = graph;
  const capacity = 8;
  const feeds = tokenFeeds(graph, { ids: [0], before: [0], width: 1, from: [0] });
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
 * For graphs with GroupQueryAttention, which write keys and values into the buffers that they read. A run uses adjacent
 * rows; their lengths may differ. The binding copies every position of the rows of a run.
 */
export class SharedDecoder extends BufferedDecoder {
  override bytesFor(rows: number, length: number): number {
    const { caches } = this.graph;
    const row = bytesOfRow(this.graph, length);
    const together = Math.min(rows, this.together);
    // One buffer exists twice while the layout changes; a run copies the places of its rows.
    const copied = (rows * row) / caches.length + together * row + GARBAGE;
    return rows * row + copied + this.logits.bytesFor(together, CHUNK);
  }

  override async read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array> {
    const [logits] = await this.#run([this.place(row as BufferedRow)], ids);
    return logits!;
  }

  override async step(rows: readonly SequenceRow[], ids: readonly number[], use: UseScores): Promise<void> {
    const asked = new Map((rows as readonly BufferedRow[]).map((row, index) => [this.place(row), index]));
    this.#gather(asked);
    await this.moveAfter(async () => {
      for (let from = 0; from < rows.length; from += this.together) {
        const run = this.placed.slice(from, Math.min(from + this.together, rows.length));
        const indices = run.map((row) => asked.get(row)!);
        const made = await this.#run(
          run,
          indices.map((index) => ids[index]!),
        );
        for (const [at, index] of indices.entries()) use(index, made[at]!);
      }
    });
  }

  #gather(asked: ReadonlyMap<PlacedRow, number>): void {
    let free = 0;
    for (const row of asked.keys()) {
      if (row.place < asked.size) continue;
      while (asked.has(this.placed[free]!)) free++;
      this.swap(row, this.placed[free]!);
    }
  }

  /** @param ids ids in row order, equally many for each row */
  async #run(rows: readonly PlacedRow[], ids: readonly number[]): Promise<Float32Array[]> {
    const { session, caches, heads, headSize } = this.graph;
    const each = ids.length / rows.length;
    const before = rows.map((row) => row.ids.length);
    const width = Math.max(...before) + each;
    this.reserve(width);
    const { capacity } = this;
    const feeds = tokenFeeds(this.graph, { ids, before, width, from: before.map(() => 0) });
    const logits = this.logits.tensor(rows.length, each);
    const fetches: Record<string, Tensor> = { logits };
    for (const [index, { past, present }] of caches.entries()) {
      const memory = this.part(index, rows[0]!.place, rows.length);
      const tensor = new Tensor('float32', memory, [rows.length, heads, capacity, headSize]);
      feeds[past] = tensor;
      fetches[present] = tensor;
    }
    this.garbage.before(rows.length * capacity * bytesPerToken(this.graph));
    await session.run(feeds, fetches);
    for (const [index, row] of rows.entries())
      for (let at = index * each; at < (index + 1) * each; at++) row.ids.push(ids[at]!);
    return lastLogits(logits);
  }
}
