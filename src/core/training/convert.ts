import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { readJsonLines } from '../task/jsonl';
import { answered, oneBehind, type Trainer } from './trainer';

export const precisionSchema = z.enum(['fp32', 'int8', 'int4']);
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

const graphsSchema = z.object({
  files: z.array(z.string()),
  /** Not written, because their graph differs too much from PyTorch. */
  refused: z.array(precisionSchema),
});

/**
 * Writes `onnx/`. Each graph is compared with PyTorch before it is put in place.
 * @throws {Fault} `training/cannot-export` for an unusable folder, or when every precision is refused;
 * `training/not-exported`
 */
export async function writeGraphs(
  trainer: Trainer,
  { folder, precisions, base, signal, onLine }: OnnxOptions,
): Promise<z.infer<typeof graphsSchema>> {
  const given = [
    ...(precisions === undefined ? [] : ['--precision', precisions.join(',')]),
    ...(base === undefined ? [] : ['--base', base]),
  ];
  const lines = oneBehind(onLine);
  const faults = ['training/cannot-export', 'training/not-exported'] as const;
  const args = ['onnx', ...given, resolve(folder)];
  const answer = await answered(trainer, args, faults, { signal, onLine: lines.onLine });
  lines.passOn();
  return graphsSchema.parse(JSON.parse(answer));
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

/**
 * A GGUF file becomes a model folder, and a model folder a GGUF file. The result appears only when it is complete.
 * @throws {Fault} `training/cannot-convert` for an unusable input; `training/not-converted`
 */
export async function convertModel(
  trainer: Trainer,
  { from, to, precision, signal }: ConvertOptions,
): Promise<z.infer<typeof convertedSchema>> {
  const given = precision === undefined ? [] : ['--precision', precision];
  const faults = ['training/cannot-convert', 'training/not-converted'] as const;
  const args = ['convert', ...given, resolve(from), resolve(to)];
  return convertedSchema.parse(JSON.parse(await answered(trainer, args, faults, { signal })));
}

/** `tensorboard`: a folder; `trackio`: a project on this machine. */
type Tracker = { readonly tensorboard: string } | { readonly trackio: string };

/** `figures`: events with figures handed over now; `state`: of the run, null where it did not change. */
const trackedSchema = z.object({ figures: z.int(), state: z.string().nullable() });

/**
 * Exports figures until the run rests, or at once. Nothing is exported twice, so a later call continues.
 * @param folder of the run
 * @throws {Fault} `training/cannot-track` if the tracker's package is missing; `training/not-tracked`
 */
export async function track(
  trainer: Trainer,
  folder: string,
  tracker: Tracker,
  {
    once,
    ...options
  }: { readonly once: boolean; readonly signal: AbortSignal; readonly onLine: (line: string) => void },
): Promise<z.infer<typeof trackedSchema>> {
  const to =
    'tensorboard' in tracker ? ['--tensorboard', tracker.tensorboard] : ['--trackio', tracker.trackio];
  const args = ['track', folder, ...to, ...(once ? ['--once'] : [])];
  const faults = ['training/cannot-track', 'training/not-tracked'] as const;
  const answer = await answered(trainer, args, faults, options);
  return trackedSchema.parse(JSON.parse(answer.trim().split('\n').at(-1)!));
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
  /** Published or exported rows; `withRowsOfLogs` makes such files from data folders. They need not be graded. */
  readonly trajectories: readonly string[];
  /** When the critic's base is not where it was during training. */
  readonly base?: string;
  readonly out?: string;
  readonly withTokens?: boolean;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** @throws {Fault} `training/cannot-score` for an unusable critic, base or trajectory; `training/not-scored` */
export async function scoreTrajectories(trainer: Trainer, options: ScoreOptions): Promise<Scored[]> {
  const { critic, trajectories, base, out, withTokens = false, signal, onLine } = options;
  const temporary = await mkdtemp(join(tmpdir(), 'tandem-score-'));
  try {
    const file = out === undefined ? join(temporary, 'scored.jsonl') : resolve(out);
    const given = [
      ...['--critic', resolve(critic), '--out', file],
      ...(base === undefined ? [] : ['--base', base]),
      ...(withTokens ? ['--tokens'] : []),
      ...trajectories.map((trajectory) => resolve(trajectory)),
    ];
    const faults = ['training/cannot-score', 'training/not-scored'] as const;
    await answered(trainer, ['score', ...given], faults, { signal, onLine: oneBehind(onLine).onLine });
    const rows: Scored[] = [];
    for await (const line of readJsonLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      if ('value' in line) rows.push(scoredSchema.parse(line.value));
    }
    return rows;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
