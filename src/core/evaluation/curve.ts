import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Fault } from '../fault';
import { readLocalFolder } from '../model/local/folder';
import { deriveSeed } from '../seed';
import { readJsonLines } from '../task/jsonl';
import { isProgram, requestOf, type Task } from '../task/task';
import { claimIn } from '../trajectory/claim';
import { parsePublishedRow } from '../trajectory/publishedRow';
import type { RunConfiguration } from '../training/configuration';
import { writeGraphs, type Precision } from '../training/convert';
import { prepareData } from '../training/data/prepare';
import { methodIn, needsGrades } from '../training/methods';
import { canPlay, hasGraphs, modelOf, runFiles } from '../training/runFolder';
import type { Runs } from '../training/runs';
import type { Trainer } from '../training/trainer';
import { measure, type MeasurePlan } from './comparison/measure';
import { keptOf, type ModelResult } from './loop/evaluationCache';
import { precisionOf } from './loop/export';
import { digestOf } from './loop/record';
import { trained, type TrainedProgress } from './loop/trainingStage';
import { differences, overSeeds, type OverSeeds } from './overSeeds';
import type { Curve, MoreHelps } from './savedCurves';

export interface CurvePlan extends Omit<MeasurePlan, 'runs' | 'title' | 'onProgress'> {
  readonly dataFolder: Runs;
  readonly configuration: RunConfiguration;
  readonly trainer: Trainer;
  readonly trainerCode: string;
  /** Folder of the prompts that ship. */
  readonly shippedPrompts: string;
  /** Validation tasks; empty to hold out a part of the tasks of the log. */
  readonly tasks: MeasurePlan['tasks'];
  /** Fractions, ascending; at least two. */
  readonly shares: readonly number[];
  /** Number of training seeds, each of which draws its own tasks. */
  readonly seeds: number;
  readonly onProgress?: (point: string, what: TrainedProgress | { done: number; total: number }) => void;
}

const VALIDATION = 0.2;

/**
 * Trains on shares of what a configuration takes from the log, and plays the validation tasks with each model. Shares of
 * a seed are nested, and drawn by task: dialogues of one task are never on both sides. A later call finds finished runs
 * and finished play.
 * @throws {Fault} `training/bad-configuration`, `loop/too-few-tasks`; as `trained` and `measure`
 * @throws the signal's reason when it is aborted; the run at work then writes a checkpoint and stops
 */
export async function learningCurve(plan: CurvePlan): Promise<Curve> {
  const { dataFolder, shares, seeds } = plan;
  const claim = await claimIn(path.join(dataFolder.dataFolder, 'claims'), 'curve', 'A learning curve');
  try {
    const { validation, learned } = split(await rowsOfLog(plan), plan.tasks);
    const points: Measured[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      const order = [...learned].sort(
        ([a], [b]) => deriveSeed('curve', seed, a) - deriveSeed('curve', seed, b),
      );
      for (const share of shares) {
        const drawn = new Map(order.slice(0, Math.max(1, Math.round(share * order.length))));
        points.push(await measured({ share, seed, drawn }, validation, plan));
      }
    }
    return curveOf(points, plan.shares, validation.length);
  } finally {
    await claim.release();
  }
}

/** Lines of rows by the request of their task. */
type Learned = ReadonlyMap<string, readonly string[]>;

interface TakenRow {
  readonly task: Task;
  readonly digest: string;
}

async function rowsOfLog({ configuration, shippedPrompts, signal }: CurvePlan): Promise<TakenRow[]> {
  const { selection, forTrainer } = configuration;
  if (selection === undefined || forTrainer.role === 'collaborator' || methodIn(forTrainer) === 'grpo')
    throw new Fault(
      'training/bad-configuration',
      `${configuration.from}: a learning curve draws dialogues from a log for an agent; give data.log, and a method that learns from it.`,
    );
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-curve-'));
  try {
    const withUngraded = !needsGrades(methodIn(forTrainer));
    await prepareData(selection, folder, { prompts: shippedPrompts, withUngraded, signal });
    const rows: TakenRow[] = [];
    const file = path.join(folder, runFiles.trajectories);
    for await (const line of readJsonLines(file, { maxLineBytes: Number.POSITIVE_INFINITY })) {
      if ('value' in line)
        rows.push({ task: parsePublishedRow(line.value).task, digest: digestOf(line.value) });
    }
    return rows;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws {Fault} `loop/too-few-tasks` */
function split(
  rows: readonly TakenRow[],
  given: CurvePlan['tasks'],
): { readonly validation: CurvePlan['tasks']; readonly learned: Learned } {
  const tasks = new Map(rows.map(({ task }) => [requestOf(task), task]));
  // By the request alone, so that one log gives one division.
  const drawn = [...tasks]
    .filter(([, task]) => isProgram(task))
    .sort(([a], [b]) => deriveSeed('curve', a) - deriveSeed('curve', b));
  const validation =
    given.length > 0
      ? given
      : drawn.slice(0, Math.round(VALIDATION * drawn.length)).map(([, task]) => ({ task }));
  const held = new Set(validation.map(({ task }) => requestOf(task)));
  const learned = Map.groupBy(
    rows.filter(({ task }) => !held.has(requestOf(task))),
    ({ task }) => requestOf(task),
  );
  if (validation.length === 0 || learned.size < 4)
    throw new Fault(
      'loop/too-few-tasks',
      `The log has dialogues of ${tasks.size} tasks to learn from: too few to divide. Play more, or name validation tasks by --tasks.`,
    );
  return {
    validation,
    learned: new Map([...learned].map(([request, of]) => [request, of.map(({ digest }) => digest)])),
  };
}

interface Drawn {
  readonly share: number;
  readonly seed: number;
  readonly drawn: Learned;
}

/** A model that was trained on drawn tasks, and how it played. */
export interface Measured extends Drawn {
  readonly run: string;
  readonly model: Pick<ModelResult, 'by_task'>;
  readonly start: Pick<ModelResult, 'by_task'> | undefined;
}

async function measured(drawn: Drawn, tasks: CurvePlan['tasks'], plan: CurvePlan): Promise<Measured> {
  const { dataFolder: runs, trainer, signal, onProgress } = plan;
  const name = `curve ${Math.round(100 * drawn.share)} %, seed ${drawn.seed}`;
  const configuration = configured(plan.configuration, drawn.seed);
  const digests = [...drawn.drawn.values()].flat().sort();
  const { run } = await trained({
    ...{ runs, trainer, signal, configuration, name },
    prompts: plan.shippedPrompts,
    key: `curve-${digestOf([configuration, digests, plan.trainerCode])}`,
    leaveOut: ({ task }) => (drawn.drawn.has(requestOf(task)) ? undefined : 'outside the drawn tasks'),
    onProgress: (progress) => onProgress?.(name, progress),
  });
  if (!canPlay(run))
    await writeGraphs(trainer, { folder: modelOf(run), precisions: [precisionFor(configuration)], signal });
  const setting = await measure({
    ...{ ...plan, tasks, runs: [run], title: 'learning curve' },
    onProgress: (_, done, total) => onProgress?.(name, { done, total }),
  });
  const kept = (await keptOf(run.folder)).find((one) => one.setting.key === setting.key)!;
  return { ...drawn, run: run.id, model: kept.model, start: kept.start };
}

/** Without a graph its model could not play. */
function configured(configuration: RunConfiguration, seed: number): RunConfiguration {
  const { forTrainer } = configuration;
  const first = typeof forTrainer.seed === 'number' ? forTrainer.seed : 0;
  const onnx = { export: { onnx: [precisionFor(configuration)] } };
  return { ...configuration, forTrainer: { ...forTrainer, ...onnx, seed: first + seed - 1 } };
}

/** That of the base, so that before and after differ by the training alone. */
function precisionFor({ forTrainer }: RunConfiguration): Precision {
  const { base } = forTrainer.model as { readonly base: string };
  return path.isAbsolute(base) && hasGraphs(base) ? precisionOf(readLocalFolder(base).graph) : 'int8';
}

export function curveOf(points: readonly Measured[], shares: readonly number[], validation: number): Curve {
  const tasks = points[0]!.model.by_task.map(({ task }) => task).sort();
  const successes = ({ by_task }: Measured['model']): number[] => {
    const of = new Map(by_task.map(({ task, success }) => [task, success]));
    return tasks.map((task) => of.get(task)!);
  };
  const at = (share: number): Measured[] => points.filter((point) => point.share === share);
  const table = (share: number): number[][] => at(share).map(({ model }) => successes(model));
  const starts = at(shares[0]!).flatMap(({ start }) => (start === undefined ? [] : [successes(start)]));
  const [before, last] = shares.slice(-2).map(table);
  const gain = overSeeds(differences(before!, last!));
  return {
    validation,
    // It is the same model for every seed.
    ...(starts.length > 0 && { start: overSeeds(starts.slice(0, 1)) }),
    points: shares.map((share) => {
      const drawn = at(share).map((point) => point.drawn);
      const dialogues = drawn.map((one) => [...one.values()].flat().length);
      const mean = dialogues.reduce((sum, count) => sum + count, 0) / dialogues.length;
      return { share, tasks: drawn[0]!.size, dialogues: mean, success: overSeeds(table(share)) };
    }),
    gain,
    moreHelps: moreHelps(gain),
    runs: points.map(({ run: id, share, seed }) => ({ id, share, seed })),
  };
}

/** An interval as wide as this contains both a large gain and a large loss. */
const MAX_WIDTH = 0.2;

export function moreHelps({ interval, coversSeeds }: OverSeeds): MoreHelps {
  if (interval === null || !coversSeeds) return 'too few';
  if (interval.low > 0) return 'likely';
  return interval.high - interval.low > MAX_WIDTH ? 'too few' : 'no sign';
}
