import { listSupportedBackends, type InferenceSession } from './runtime';
import { messageOf } from '../../fault';
import { openDecoder } from './openDecoder';
import { openGraph, type Graph } from './graph';
import { withoutEnd } from '../../text';

/** In bytes; smaller models gain nothing from a GPU. */
const WORTH_TRYING = 256 * 2 ** 20;
/** Difference of logits from those of the CPU, as a fraction of the largest one. */
const TOLERANCE = 0.02;
const TRIAL = { prompt: [0, 1, 2, 3, 4, 5, 6, 7], steps: 8 } as const;

interface Trial {
  readonly logits: Float32Array;
  readonly milliseconds: number;
}

/**
 * Chooses the CPU, unless the model is large and a GPU computes the same result faster: a driver may be missing,
 * wrong, or emulated by the CPU, and only a trial shows that.
 * @returns `notes`: one sentence if a GPU was tried and does not work
 * @throws {Fault} `model/damaged-folder`, `model/foreign-folder`
 */
export async function openWhereFastest(
  file: string,
  bytes: number,
): Promise<{ readonly graph: Graph; readonly notes: readonly string[] }> {
  const onProcessor = await openGraph(file, bytes);
  if (bytes < WORTH_TRYING) return { graph: onProcessor, notes: [] };
  const expected = await tried(onProcessor, bytes);
  const troubles: string[] = [];
  const providers = listSupportedBackends().map(({ name }) => name);
  for (const provider of providers.filter((name) => name === 'cuda' || name === 'webgpu')) {
    const found = await tryProvider(file, bytes, provider, expected);
    if (typeof found !== 'string') {
      await onProcessor.session.release();
      return { graph: found, notes: [] };
    }
    troubles.push(`${provider} ${found}`);
  }
  return { graph: onProcessor, notes: [`The processor computes the model: ${troubles.join(', ')}.`] };
}

async function tryProvider(
  file: string,
  bytes: number,
  provider: string,
  expected: Trial,
): Promise<Graph | string> {
  let session: InferenceSession | undefined;
  try {
    const graph = await openGraph(file, bytes, provider);
    session = graph.session;
    const { logits, milliseconds } = await tried(graph, bytes);
    const isRight = isClose(logits, expected.logits);
    if (isRight && milliseconds < expected.milliseconds) return graph;
    await session.release();
    return isRight ? 'is slower here than the processor' : 'computes something else here than the processor';
  } catch (error) {
    await session?.release();
    return `does not work here (${reasonOf(error)})`;
  }
}

/** The second run is timed, when the graph is warm. */
async function tried(graph: Graph, bytes: number): Promise<Trial> {
  // The few tokens of a trial always fit into memory.
  const decoder = await openDecoder(graph, bytes, Infinity);
  let logits = new Float32Array();
  let began = performance.now();
  for (let round = 0; round < 2; round++) {
    began = performance.now();
    const row = decoder.open();
    await decoder.read(row, TRIAL.prompt);
    for (let step = 0; step < TRIAL.steps; step++)
      await decoder.step([row], [step], (_, made) => (logits = made.slice()));
    decoder.close(row);
  }
  return { logits, milliseconds: performance.now() - began };
}

function isClose(logits: Float32Array, expected: Float32Array): boolean {
  const largest = expected.reduce((most, logit) => Math.max(most, Math.abs(logit)), 0);
  return expected.every((logit, id) => Math.abs(logits[id]! - logit) <= TOLERANCE * largest);
}

/** The last sentence, because ONNX Runtime begins with names from its source code. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const words = messageOf(said).replace(/\s+/g, ' ').trim();
  const last = words.split(/(?<=\w)[:.] (?=[A-Z])/).at(-1)!;
  return withoutEnd(last, '. ').slice(0, 120);
}
