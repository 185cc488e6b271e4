import { Tensor } from './runtime';
import type { Decoder, SequenceRow, UseScores } from './decoder';
import {
  GARBAGE,
  OutputGarbage,
  bytesPerToken,
  CHUNK,
  copyHeads,
  free,
  lastLogits,
  LogitMemory,
  tokenFeeds,
  type Graph,
} from './graph';

/** Keys and values as a run returned them. Shape of each tensor: (rows, heads, width, head size). */
interface Pack {
  readonly tensors: readonly Tensor[];
  readonly rows: number;
  readonly width: number;
  /** Number of rows in the pack that are still open. */
  users: number;
}

interface PackedRow extends SequenceRow {
  ids: number[];
  pack: Pack | undefined;
  at: number;
  /** Position of its first token within the pack's width. */
  from: number;
}

/** If a row joins or leaves, only these are copied. */
const ROWS_TOGETHER = 16;

/**
 * For graphs that return all keys and values as new tensors, one token longer. As long as the same rows continue
 * together, the output of a run is the input of the next; when others join, the rows are copied next to each other,
 * aligned at their ends, and the attention mask hides the space before shorter ones.
 */
export class GrowingDecoder implements Decoder {
  readonly givesProbabilities = false;
  readonly #graph: Graph;
  readonly #together: number;
  readonly #logits: LogitMemory;
  readonly #garbage = new OutputGarbage();
  readonly #packs = new Set<Pack>();

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#logits = new LogitMemory(graph);
    // A graph without positions counts them from the width, and GroupQueryAttention, which runs here only on other
    // providers than the CPU, takes the first positions for a row's own: both are wrong for rows aligned at the end.
    const alignable = graph.takesPositions && graph.provider === 'cpu';
    this.#together = alignable ? ROWS_TOGETHER : 1;
  }

  bytesFor(rows: number, length: number): number {
    const row = length * bytesPerToken(this.#graph);
    const together = Math.min(rows, this.#together);
    // A row that left its pack is in memory twice until the others continue; a run holds both its input and its output.
    return 2 * rows * row + 2 * together * row + GARBAGE + this.#logits.bytesFor(together, CHUNK);
  }

  /** Twice, because the pack that it left may be in memory until the others continue. */
  bytesAtRest(length: number): number {
    return 2 * length * bytesPerToken(this.#graph);
  }

  get held(): number {
    return [...this.#packs].reduce((bytes, pack) => bytes + bytesOf(pack), 0);
  }

  open(): SequenceRow {
    const row: PackedRow = { ids: [], pack: undefined, at: 0, from: 0 };
    return row;
  }

  close(row: SequenceRow): void {
    this.#move(row as PackedRow, undefined, 0, 0);
  }

  rest(row: SequenceRow): void {
    const packed = row as PackedRow;
    if ((packed.pack?.rows ?? 1) > 1) this.#move(packed, this.#pack([packed]), 0, 0);
  }

  cut(row: SequenceRow, length: number): void {
    (row as PackedRow).ids.length = length;
  }

  async read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array> {
    const [logits] = await this.#run([row as PackedRow], ids);
    return logits!;
  }

  async step(rows: readonly SequenceRow[], ids: readonly number[], use: UseScores): Promise<void> {
    for (let from = 0; from < rows.length; from += this.#together) {
      const run = rows.slice(from, from + this.#together) as PackedRow[];
      const made = await this.#run(run, ids.slice(from, from + this.#together));
      for (const [at, logits] of made.entries()) use(from + at, logits);
    }
  }

  async #run(rows: readonly PackedRow[], ids: readonly number[]): Promise<Float32Array[]> {
    const { session, caches } = this.#graph;
    const each = ids.length / rows.length;
    const held = sideBySide(rows);
    const pack = held ?? this.#pack(rows);
    const before = rows.map((row) => row.ids.length);
    const width = pack.width + each;
    const feeds = tokenFeeds(this.#graph, {
      ids,
      before,
      width,
      from: before.map((length) => pack.width - length),
    });
    for (const [index, { past }] of caches.entries()) feeds[past] = pack.tensors[index]!;
    const logits = this.#logits.tensor(rows.length, each);
    const fetches = Object.fromEntries(caches.map(({ present }) => [present, null]));
    this.#garbage.before(rows.length * width * bytesPerToken(this.#graph));
    const made = (await session.run(feeds, { logits, ...fetches })) as Record<string, Tensor>;
    if (held === undefined) release(pack);
    const next: Pack = {
      tensors: caches.map(({ present }) => made[present]!),
      rows: rows.length,
      width,
      users: 0,
    };
    for (const [at, row] of rows.entries()) {
      this.#move(row, next, at, pack.width - before[at]!);
      for (let index = at * each; index < (at + 1) * each; index++) row.ids.push(ids[index]!);
    }
    return lastLogits(logits);
  }

  /** A pack is freed with the last of its rows. */
  #move(row: PackedRow, pack: Pack | undefined, at: number, from: number): void {
    const left = row.pack;
    Object.assign(row, { pack, at, from });
    if (pack !== undefined) {
      pack.users += 1;
      this.#packs.add(pack);
    }
    if (left === undefined) return;
    left.users -= 1;
    if (left.users > 0) return;
    this.#packs.delete(left);
    release(left);
  }

  #pack(rows: readonly PackedRow[]): Pack {
    const { caches, heads, headSize } = this.#graph;
    const width = Math.max(...rows.map((row) => row.ids.length));
    const tensors = caches.map((_, index) => {
      const data = new Float32Array(rows.length * heads * width * headSize);
      for (const [at, { pack, ids, ...row }] of rows.entries()) {
        if (pack === undefined) continue;
        const from = {
          data: pack.tensors[index]!.data as Float32Array,
          start: (row.at * heads * pack.width + row.from) * headSize,
          stride: pack.width * headSize,
        };
        const start = ((at * heads + 1) * width - ids.length) * headSize;
        copyHeads(heads, ids.length * headSize, from, { data, start, stride: width * headSize });
      }
      return new Tensor('float32', data, [rows.length, heads, width, headSize]);
    });
    return { tensors, rows: rows.length, width, users: 0 };
  }
}

function release({ tensors }: Pack): void {
  for (const tensor of tensors) free(tensor.data as Float32Array);
}

const bytesOf = ({ tensors }: Pack): number =>
  tensors.reduce((bytes, tensor) => bytes + (tensor.data as Float32Array).byteLength, 0);

/** The pack that contains exactly these rows, in this order, up to its end. */
function sideBySide(rows: readonly PackedRow[]): Pack | undefined {
  const { pack } = rows[0]!;
  if (pack?.rows !== rows.length) return undefined;
  const fits = rows.every(
    (row, at) => row.pack === pack && row.at === at && row.from + row.ids.length === pack.width,
  );
  return fits ? pack : undefined;
}
