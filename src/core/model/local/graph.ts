import { readdirSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InferenceSession, Tensor } from './runtime';
import { Fault, messageOf } from '../../fault';
import { MB, refuseLarge, refuseOther } from '../../regularFile';
import { damaged } from './files';

export interface Graph {
  readonly session: InferenceSession;
  /** ONNX Runtime's name of the execution provider: `cpu`, `webgpu`, `cuda`. */
  readonly provider: string;
  /** Tensors of keys and values, two names for each layer. */
  readonly caches: readonly CacheNames[];
  readonly heads: number;
  readonly headSize: number;
  readonly vocabulary: number;
  /** True if it has the lengths of its rows for a mask, and returns keys and values of new tokens alone. */
  readonly takesLengths: boolean;
  /** True if it also returns the softmax of its logits. */
  readonly makesProbabilities: boolean;
  readonly takesPositions: boolean;
  /** True if it has an input that limits the logits to those of the last token. */
  readonly takesLogitCount: boolean;
}

interface CacheNames {
  readonly past: string;
  readonly present: string;
}

/** Size in bytes up to which weights stay in a core's caches, so that a second thread would only wait for the first. */
const SMALL_WEIGHTS = 32 * 2 ** 20;

/** Number of rows that one run computes, so that keys and values stay in the cache if the weights do. */
export const rowsTogether = (bytes: number): number => (bytes <= SMALL_WEIGHTS ? 16 : 64);

/** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
export async function openGraph(file: string, bytes: number, provider = 'cpu'): Promise<Graph> {
  return describe(file, await createSession(file, bytes, provider), provider);
}

/** Protocol Buffers, which a graph is written in, allow no more; weights above that lie in files beside it. */
const MAX_GRAPH_BYTES = 2048 * MB;

/** ONNX Runtime opens the graph and the files beside it that the graph names, and would wait for a pipe among them. */
function refuseOddFiles(graph: string): void {
  refuseLarge(graph, MAX_GRAPH_BYTES);
  const folder = path.dirname(graph);
  for (const name of readdirSync(folder)) {
    const found = statSync(path.join(folder, name), { throwIfNoEntry: false });
    if (found?.isDirectory() === false) refuseOther(path.join(folder, name), found);
  }
}

/**
 * Does not check inputs and outputs.
 * @throws {Fault} `file/not-regular`, `file/too-large`, `model/damaged-folder`
 */
export async function createSession(
  file: string,
  bytes = statSync(file).size,
  provider = 'cpu',
): Promise<InferenceSession> {
  refuseOddFiles(file);
  const cores = availableParallelism();
  return InferenceSession.create(file, {
    executionProviders: [provider],
    // Only half of many cores: two are often hyper-threads of one, and memory bandwidth limits the speed first.
    intraOpNumThreads: bytes <= SMALL_WEIGHTS ? 1 : cores <= 4 ? cores : Math.floor(cores / 2),
    interOpNumThreads: 1,
    // The arena keeps ten times the memory of the largest request for a few percent of speed.
    enableCpuMemArena: false,
    enableMemPattern: false,
    // Spinning keeps the second thread awake between a token's ninety products, which saves a quarter of the time;
    // after the run it sleeps, so that the rest of the machine is not slowed down.
    extra: { session: { intra_op: { allow_spinning: '1' }, force_spinning_stop: '1' } },
    logSeverityLevel: 4,
  }).catch((error: unknown) => {
    throw damaged(file, inWords(messageOf(error)), error);
  });
}

function describe(file: string, session: InferenceSession, provider: string): Graph {
  const past = session.inputNames.filter((name) => name.startsWith('past_key_values.'));
  const caches = past.map((name) => ({ past: name, present: name.replace('past_key_values.', 'present.') }));
  const takesLengths = session.inputNames.includes('past_lengths');
  const needed = ['input_ids', takesLengths ? 'past_lengths' : 'attention_mask'];
  const made = takesLengths ? ['new_key_values'] : caches.map(({ present }) => present);
  const known = [...needed, ...(takesLengths ? [] : ['position_ids']), 'num_logits_to_keep', ...past];
  const missing = needed.filter((name) => !session.inputNames.includes(name));
  const unmade = ['logits', ...made].filter((name) => !session.outputNames.includes(name));
  const unknown = session.inputNames.filter((name) => !known.includes(name));
  const trouble = [
    ...(past.length === 0 ? ['it keeps no keys and values'] : []),
    ...missing.map((name) => `it does not take ${name}`),
    ...unmade.map((name) => `it does not make ${name}`),
    ...unknown.map((name) => `it wants ${name}, which Tandem does not know`),
  ][0];
  if (trouble !== undefined) throw foreign(file, trouble);
  const cache = session.inputMetadata.find(({ name }) => name === past[0]);
  if (cache?.isTensor !== true || cache.type !== 'float32')
    throw foreign(file, 'its keys and values are not 32-bit numbers');
  const [, heads, , headSize] = cache.shape;
  if (typeof heads !== 'number' || typeof headSize !== 'number')
    throw foreign(file, 'it does not say how large its keys and values are');
  const logits = session.outputMetadata.find(({ name }) => name === 'logits');
  const vocabulary = logits?.isTensor === true ? logits.shape.at(-1) : undefined;
  if (typeof vocabulary !== 'number') throw foreign(file, 'it does not say how many tokens it knows');
  return {
    session,
    provider,
    caches,
    heads,
    headSize,
    vocabulary,
    takesLengths,
    makesProbabilities: takesLengths && session.outputNames.includes('probabilities'),
    takesPositions: session.inputNames.includes('position_ids'),
    takesLogitCount: session.inputNames.includes('num_logits_to_keep'),
  };
}

const foreign = (file: string, why: string): Fault =>
  new Fault(
    'model/foreign-folder',
    `${file} is not a graph that Tandem can run: ${why}. Make one with tandem onnx from the model's folder.`,
  );

/** Omits ONNX Runtime's own source locations and the file's name, which is named anyway. */
const inWords = (text: string): string =>
  text.replace(/^.*failed: ?/s, '').replace(/^\/\S+\.cc:\d+ .*?\) /s, '');

/** Tokens read at once. With more, other turns would wait long, and scores of attention would take memory anew each time. */
export const CHUNK = 128;

export const bytesPerToken = ({ caches, heads, headSize }: Graph): number =>
  caches.length * heads * headSize * Float32Array.BYTES_PER_ELEMENT;

/** The heads of a row in an array of keys or values. */
export interface Heads {
  readonly data: Float32Array;
  /** Index of the first one. */
  readonly start: number;
  /** From the start of one to that of the next. */
  readonly stride: number;
}

/** Copies the first `length` numbers of each of `count` heads. */
export function copyHeads(count: number, length: number, from: Heads, to: Heads): void {
  for (let head = 0; head < count; head++) {
    const start = from.start + head * from.stride;
    to.data.set(from.data.subarray(start, start + length), to.start + head * to.stride);
  }
}

/** Frees memory at once; a major garbage collection may be long in coming. */
export function free(numbers: Float32Array): void {
  (numbers.buffer as ArrayBuffer).transfer(0);
}

export interface Tokens {
  /** Row after row. */
  readonly ids: readonly number[];
  /** Number of earlier tokens in each row. */
  readonly before: readonly number[];
  readonly width: number;
  /** First position of the mask that counts in each row; those that count are contiguous. */
  readonly from: readonly number[];
}

export function tokenFeeds(graph: Graph, tokens: Tokens): Record<string, Tensor> {
  const { ids, before, width, from } = tokens;
  const rows = before.length;
  const each = ids.length / rows;
  const mask = new BigInt64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const start = row * width + from[row]!;
    mask.fill(1n, start, start + before[row]! + each);
  }
  const feeds: Record<string, Tensor> = {
    input_ids: new Tensor('int64', BigInt64Array.from(ids, BigInt), [rows, each]),
    attention_mask: new Tensor('int64', mask, [rows, width]),
  };
  if (graph.takesPositions) {
    const positions = ids.map((_, index) => BigInt(before[Math.floor(index / each)]! + (index % each)));
    feeds.position_ids = new Tensor('int64', BigInt64Array.from(positions), [rows, each]);
  }
  if (graph.takesLogitCount) feeds.num_logits_to_keep = new Tensor('int64', [1n], []);
  return feeds;
}

/**
 * Memory for a graph's logits, reused by all runs of a kind: a new allocation for each token costs more to collect than
 * to compute.
 */
export class LogitMemory {
  #data = new Float32Array(0);

  constructor(private readonly graph: Graph) {}

  /** For `rows` with one token each, or one row with `each` tokens, and for the copy made of them. */
  bytesFor(rows: number, each: number): number {
    const { vocabulary, takesLogitCount } = this.graph;
    return 2 * Math.max(rows, takesLogitCount ? 1 : each) * vocabulary * Float32Array.BYTES_PER_ELEMENT;
  }

  tensor(rows: number, each: number): Tensor {
    const { vocabulary, takesLogitCount } = this.graph;
    const kept = takesLogitCount ? 1 : each;
    const length = rows * kept * vocabulary;
    if (this.#data.length < length) this.#data = new Float32Array(length);
    return new Tensor('float32', this.#data.subarray(0, length), [rows, kept, vocabulary]);
  }
}

export function lastLogits(logits: Tensor): Float32Array[] {
  const [rows, each, vocabulary] = logits.dims as [number, number, number];
  const data = logits.data as Float32Array;
  return Array.from({ length: rows }, (_, row) => {
    const end = (row + 1) * each * vocabulary;
    return data.subarray(end - vocabulary, end);
  });
}

/** Bytes of dead copies that start a collection. */
export const GARBAGE = 2 ** 20;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Collects the copies that onnxruntime-node makes of every output, even of keys and values written in place. They die
 * at once, but their size makes V8 collect the whole heap every few tokens, which takes longer than the computation; a
 * minor collection takes a tenth of that.
 */
export class OutputGarbage {
  readonly #collect: Collect;
  #bytes = 0;

  constructor() {
    setFlagsFromString('--expose-gc');
    // Freeing them on another thread would have to wait for a free core.
    setFlagsFromString('--no-concurrent-array-buffer-sweeping');
    this.#collect = runInNewContext('gc') as Collect;
  }

  /** Call before each run, with the size of its outputs; the outputs of earlier runs must be dead. */
  before(bytes: number): void {
    if (this.#bytes > GARBAGE) {
      this.#collect({ type: 'minor' });
      this.#bytes = 0;
    }
    this.#bytes += bytes;
  }
}
