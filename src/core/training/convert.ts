import { resolve, join } from 'node:path';
import * as z from 'zod';
import { ask, faultOf, type Trainer, oneBehind } from './trainer';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { readJsonLines } from '../task/jsonl';

export type Precision = z.infer<typeof precisionSchema>;

interface OnnxOptions {
  /** A Hugging Face model folder, or an exported critic. */
  readonly folder: string;
  /** fp32 and int8 by default; a critic has no choice. */
  readonly precisions?: readonly Precision[];
  /** When the critic's base is not where it was during training. */
  readonly base?: string;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

export const precisionSchema = z.enum(['fp32', 'int8', 'int4']);
const graphsSchema = z.object({
  files: z.array(z.string()),
  /** Not written, because their graph differs too much from PyTorch. */
  refused: z.array(precisionSchema),
});

type Graphs = Readonly<z.infer<typeof graphsSchema>>;

/**
 * Writes `onnx/`. Each graph is compared with PyTorch before it is put in place.
 * @throws {Fault} `training/cannot-export` for an unusable folder, or when every precision is refused;
 * `training/not-exported`
 * @throws the signal's reason when it is aborted
 */
export async function writeGraphs(trainer: Trainer, options: OnnxOptions): Promise<Graphs> {
  const { precisions, base, signal, onLine } = options;
  const folder = resolve(options.folder);
  const given = [
    ...(precisions === undefined ? [] : ['--precision', precisions.join(',')]),
    ...(base === undefined ? [] : ['--base', base]),
  ];
  const lines = oneBehind(onLine);
  const answer = await ask(trainer, ['onnx', ...given, folder], {
    cwd: process.cwd(),
    signal,
    onLine: lines.onLine,
  });
  if (answer.code !== 0) throw faultOf(answer, ['training/cannot-export', 'training/not-exported']);
  lines.passOn();
  return graphsSchema.parse(JSON.parse(answer.stdout));
}

interface ConvertOptions {
  /** A GGUF file, a folder that contains only such a file, or a model folder. */
  readonly from: string;
  /** Must not exist. */
  readonly to: string;
  /** fp32, bf16 or fp16 for a folder, q8_0 or fp32 for a file; the trainer refuses others. */
  readonly precision?: string;
  readonly signal?: AbortSignal;
}

const convertedSchema = z.object({ made: z.string(), precision: z.string(), parameters: z.int().positive() });

type Converted = Readonly<z.infer<typeof convertedSchema>>;

/**
 * A GGUF file becomes a model folder, and a model folder a GGUF file. The result appears only when it is complete.
 * @throws {Fault} `training/cannot-convert` for an unusable input; `training/not-converted`
 * @throws the signal's reason when it is aborted
 */
export async function convertModel(trainer: Trainer, options: ConvertOptions): Promise<Converted> {
  const { precision, signal } = options;
  const given = precision === undefined ? [] : ['--precision', precision];
  const answer = await ask(trainer, ['convert', ...given, resolve(options.from), resolve(options.to)], {
    cwd: process.cwd(),
    signal,
  });
  if (answer.code === 0) return convertedSchema.parse(JSON.parse(answer.stdout));
  throw faultOf(answer, ['training/cannot-convert', 'training/not-converted']);
}

/** `tensorboard`: a folder; `trackio`: a project on this machine. */
type Tracker = { readonly tensorboard: string } | { readonly trackio: string };

const trackedSchema = z.object({ figures: z.int(), state: z.string().nullable() });

/** `figures`: events with figures handed over now; `state`: of the run, null where it did not change. */
type Tracked = Readonly<z.infer<typeof trackedSchema>>;

/**
 * Exports figures until the run rests, or at once. Nothing is exported twice, so a later call continues.
 * @param folder of the run
 * @throws {Fault} `training/cannot-track` if the tracker's package is missing; `training/not-tracked`
 * @throws the signal's reason when it is aborted
 */
export async function track(
  trainer: Trainer,
  folder: string,
  tracker: Tracker,
  options: { readonly once: boolean; readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): Promise<Tracked> {
  const to =
    'tensorboard' in tracker ? ['--tensorboard', tracker.tensorboard] : ['--trackio', tracker.trackio];
  const args = ['track', folder, ...to, ...(options.once ? ['--once'] : [])];
  const answer = await ask(trainer, args, {
    cwd: process.cwd(),
    signal: options.signal,
    onLine: options.onLine,
  });
  if (answer.code === 0) return trackedSchema.parse(JSON.parse(answer.stdout.trim().split('\n').at(-1)!));
  throw faultOf(answer, ['training/cannot-track', 'training/not-tracked']);
}

export const scoredSchema = z.looseObject({
  id: z.string(),
  task: z.string(),
  /** Null when the trajectory was not graded. */
  reward: z.number().nullable(),
  turns: z.array(
    z.looseObject({
      /** From 0. */
      turn: z.number().int(),
      tokens: z.number().int(),
      /** In nats per token; for a value head, the logit of the reward predicted after the turn. */
      advantage: z.number().nullable(),
      /** The control: the untrained base. */
      untrained: z.number().nullable(),
      /** Of a page: how much this turn's draft scores above the one before; 0 without a draft. */
      gain: z.number().optional(),
      /** Log-ratios in nats; null for a value head. */
      texts: z.array(z.string()).optional(),
      log_ratios: z.array(z.number()).nullish(),
    }),
  ),
});

export type Scored = z.infer<typeof scoredSchema>;

export interface ScoreOptions {
  /** `critic/` of a run, or another exported critic. */
  readonly critic: string;
  /** Published or exported rows; `withRowsOfLogs` makes such files from data folders. */
  readonly trajectories: readonly string[];
  /** When the critic's base is not where it was during training. */
  readonly base?: string;
  readonly out?: string;
  readonly withTokens?: boolean;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/**
 * The trajectories need not be graded.
 * @throws {Fault} `training/cannot-score` for an unusable critic, base or trajectory; `training/not-scored`
 * @throws the signal's reason when it is aborted
 */
export async function scoreTrajectories(trainer: Trainer, options: ScoreOptions): Promise<Scored[]> {
  const { critic, trajectories, base, out, withTokens = false, signal, onLine } = options;
  const temporary = await mkdtemp(join(tmpdir(), 'tandem-score-'));
  try {
    const file = out === undefined ? join(temporary, 'scored.jsonl') : resolve(out);
    const given = [
      '--critic',
      resolve(critic),
      '--out',
      file,
      ...(base === undefined ? [] : ['--base', base]),
      ...(withTokens ? ['--tokens'] : []),
    ];
    const files = trajectories.map((trajectory) => resolve(trajectory));
    const answer = await ask(trainer, ['score', ...given, ...files], {
      cwd: temporary,
      signal,
      onLine: oneBehind(onLine).onLine,
    });
    if (answer.code !== 0) throw faultOf(answer, ['training/cannot-score', 'training/not-scored']);
    const rows: Scored[] = [];
    for await (const line of readJsonLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      if ('value' in line) rows.push(scoredSchema.parse(line.value));
    }
    return rows;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
