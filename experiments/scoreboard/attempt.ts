import { mkdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { PackTask } from '../../src/core/dialogue/collect';
import type { ProgramTask } from '../../src/core/task/task';
import { deriveSeed } from '../../src/core/dialogue/seed';
import { evaluate, type Evaluated } from '../../src/core/evaluation/evaluate';
import { taskFigures } from '../../src/core/evaluation/figures';
import { Fault, messageOf } from '../../src/core/fault';
import type { Model } from '../../src/core/model/model';
import { parseConfiguration, type RunConfiguration } from '../../src/core/training/configuration';
import { packLine } from '../../src/core/task/drafted';
import { writeAtomically } from '../../src/core/trajectory/files';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { isDone, keepAttempt, readAttempt, type Attempt, type Played } from './attemptFile';
import { attemptFolder, cellName } from '../../src/core/training/attempts';
import type { OfflineData } from './offline';
import { common, type Method, type RunFields, type Setting } from './plan';
import { contentOf, digestOf, type Surroundings, type TrainingRun } from './surroundings';

/** One method with one setting and one seed, trained and then played on one split. */
export interface Cell {
  readonly method: Method;
  /** Undefined for the start model, which is not trained. */
  readonly setting: Setting | undefined;
  readonly seed: number;
  readonly split: 'development' | 'test';
}

/**
 * Trains the cell's model unless it exists, plays the split with it, sampled and greedy, and stores both results. Work
 * done earlier is not repeated. A failed cell is stored as a failed attempt, and the next call tries it again.
 *
 * @throws the signal's reason when it is aborted; nothing else
 */
export async function attempt(
  cell: Cell,
  data: OfflineData,
  to: Surroundings,
  onWhere: (where: string) => void,
): Promise<Attempt> {
  const key = keyOf(cell, data, to);
  const folder = attemptFolder(to.out, `${nameOf(cell).replaceAll(/[^\w.]+/g, '-')}-${key}`);
  const before = await readAttempt(folder);
  if (before !== undefined && isDone(before)) return before;
  const { method, setting, seed, split } = cell;
  const began = performance.now();
  const one: Attempt = {
    ...{ method: method.name, setting: setting?.name ?? null, fields: fieldsOf(cell, to), seed, split, key },
    ...{ state: 'begun', begun: before?.begun ?? new Date().toISOString() },
  };
  await keepAttempt(folder, one);
  try {
    const model = await modelOf(cell, data, to, onWhere);
    const played = await play(cell, model.folder, folder, to, onWhere);
    const done: Attempt = {
      ...{ ...one, ...played, state: 'done', seconds: (performance.now() - began) / 1000 },
      ...(model.run && {
        run: model.run.id,
        trainingSeconds: (Date.parse(model.run.changedAt) - Date.parse(model.run.startedAt)) / 1000,
        model: relative(to.out, model.folder),
      }),
      ...(model.critic !== undefined && { critic: relative(to.out, model.critic) }),
    };
    await keepAttempt(folder, done);
    return done;
  } catch (error) {
    to.signal?.throwIfAborted();
    const failed: Attempt = { ...one, state: 'failed', message: messageOf(error) };
    await keepAttempt(folder, failed);
    return failed;
  }
}

export const nameOf = ({ method, setting, seed, split }: Cell): string =>
  `${cellName({ method: method.name, setting: setting?.name ?? null, seed })}, ${split}`;

/** Merges the fields of a run; later ones override earlier ones. */
export function merged(...all: readonly RunFields[]): RunFields {
  const result: Record<string, RunFields[string]> = {};
  for (const [name, value] of all.flatMap((fields) => Object.entries(fields))) {
    const before = result[name];
    result[name] = typeof value === 'object' && typeof before === 'object' ? { ...before, ...value } : value;
  }
  return result;
}

function fieldsOf({ method, setting, seed }: Cell, { plan, precision }: Surroundings): RunFields {
  if (method.fields === null) return {};
  const here = { seed, export: { onnx: [precision] }, candidates: { trajectories: plan.offline.ranked } };
  const { offline, protocol, maxTokens } = plan;
  // An online method plays as many dialogues as the others learn from, by the same rules.
  const online = {
    dialogues: offline.tasks * offline.rollouts,
    max_turns: protocol.maxTurns,
    max_new_tokens: maxTokens,
  };
  const isOnline = isOnlineMethod(method);
  return merged(common, method.fields, setting?.fields ?? {}, here, isOnline ? { grpo: online } : {});
}

const isOnlineMethod = ({ fields }: Method): boolean => fields?.method === 'grpo';

/** Returns a digest of everything that the result of a cell depends on. */
function keyOf(cell: Cell, data: OfflineData, to: Surroundings): string {
  const { plan, simulator, prompts } = to;
  const { split } = cell;
  return digestOf(
    ...[trainingKeyOf(cell, data, to), split, contentOf(tasksOf(cell, to)), evaluationSeed(cell, to)],
    ...[plan.protocol, plan.maxTokens, simulator.name, simulator.fingerprint, prompts.versions],
  );
}

/**
 * Returns a digest of everything that a trained model depends on; the start model does not depend on the trainer's
 * code.
 */
const trainingKeyOf = (cell: Cell, data: OfflineData, to: Surroundings): string =>
  digestOf(data.digest, fieldsOf(cell, to), cell.method.fields === null ? null : to.trainerCode);

const tasksOf = ({ split }: Cell, { plan, tasks }: Surroundings): readonly PackTask<ProgramTask>[] =>
  tasks({ split, count: plan[split].tasks, seed: plan[split].seed });

interface TrainedModel {
  readonly folder: string;
  readonly run?: TrainingRun;
  readonly critic?: string;
}

async function modelOf(
  cell: Cell,
  data: OfflineData,
  to: Surroundings,
  onWhere: (where: string) => void,
): Promise<TrainedModel> {
  if (cell.method.fields === null) return { folder: to.start };
  const { model, critic, run } = await to.train({
    configuration: await configurationOf(cell, data, to),
    key: trainingKeyOf(cell, data, to),
    signal: to.signal,
    onProgress: (progress) => onWhere(inWords(progress)),
  });
  return { folder: model, run, ...(critic !== undefined && { critic }) };
}

/** Returns the full configuration, with the paths that are not part of the cell's identity. */
async function configurationOf(cell: Cell, data: OfflineData, to: Surroundings): Promise<RunConfiguration> {
  const { start, out, trainerCode } = to;
  // Runs with the same trainer and start model share results: log-probabilities of the reference, candidates of a seed,
  // critics.
  const shared = join(out, 'shared', digestOf(data.digest, trainerCode));
  await mkdir(shared, { recursive: true });
  const where = {
    model: { base: start },
    data: isOnlineMethod(cell.method)
      ? { tasks: [await trainPack(data, to)] }
      : { log: data.log, filter: { collection: data.collection } },
    resources: { shared },
  };
  return parseConfiguration(merged(fieldsOf(cell, to), where), { from: nameOf(cell), folder: out });
}

/** Writes the tasks of the offline data as a pack, which an online method plays; returns its file. */
async function trainPack({ digest }: OfflineData, { out, plan, tasks }: Surroundings): Promise<string> {
  const { offline } = plan;
  const file = join(out, `train-${digest}.jsonl`);
  const drawn = tasks({ split: 'train', count: offline.tasks, seed: offline.seed });
  const text = drawn.map(({ task }) => packLine(task)).join('');
  await writeAtomically(file, (handle) => handle.writeFile(text));
  return file;
}

type TrainingProgress = Parameters<Parameters<Surroundings['train']>[0]['onProgress']>[0];

function inWords(told: TrainingProgress): string {
  if ('preparing' in told) return told.preparing;
  const { stage = told.progress.state, step, steps, part } = told.progress;
  if (part !== undefined) return `${stage}, ${part.name} ${part.done}/${part.total}`;
  return step === undefined ? stage : `${stage} ${step}/${steps ?? '?'}`;
}

/**
 * Returns the evaluation seed: equal for all methods, so that they are paired; different for each training seed, so
 * that chance averages out.
 */
const evaluationSeed = ({ split, seed }: Cell, { plan }: Surroundings): number =>
  deriveSeed(plan[split].seed, split, seed);

async function play(
  cell: Cell,
  model: string,
  folder: string,
  to: Surroundings,
  onWhere: (where: string) => void,
): Promise<{ sampled: Played; greedy: Played }> {
  const log = await TrajectoryLog.open(folder);
  const agent = to.openAgent(model);
  try {
    const sampled = await playedAt(1, { cell, agent, log, to, onWhere });
    return { sampled, greedy: await playedAt(0, { cell, agent, log, to, onWhere }) };
  } finally {
    await agent.close?.();
    await log.close();
  }
}

async function playedAt(
  temperature: number,
  { cell, agent, log, to, onWhere }: PlayOptions,
): Promise<Played> {
  const { plan, simulator, prompts, grader, signal } = to;
  const evaluation = await evaluate({
    ...{ log, simulator, prompts, grader, signal, mode: 'fixed', rollouts: 1 },
    ...{ protocol: plan.protocol, concurrency: plan.concurrency, seed: evaluationSeed(cell, to) },
    agents: [agent],
    tasks: tasksOf(cell, to),
    sampling: { temperature, maxTokens: plan.maxTokens },
    onProgress: (_, { done, total }) =>
      onWhere(`plays ${temperature === 0 ? 'greedily ' : ''}${done}/${total}`),
  });
  return keptOf(evaluation.agents[0]!, nameOf(cell));
}

interface PlayOptions {
  readonly cell: Cell;
  readonly agent: Model;
  readonly log: TrajectoryLog;
  readonly to: Surroundings;
  readonly onWhere: (where: string) => void;
}

/**
 * Returns the result to store; throws when dialogues are missing, because the table would then compare different tasks.
 */
function keptOf({ figures, collection, trajectories }: Evaluated, name: string): Played {
  const { done, total, failures } = collection;
  if (done < total || figures.dialogues < total) {
    const why = failures[0]?.message ?? `${figures.notGradable} answers cannot be graded here.`;
    throw new Fault(
      'study/incomplete-play',
      `Of ${total} dialogues of ${name}, ${figures.dialogues} were played and graded: ${why}`,
    );
  }
  const tasks = taskFigures(trajectories, figures.mode);
  return {
    figures: { ...figures },
    tasks: tasks.map(({ task, success, testsPassed }) => ({ task, success, testsPassed })),
  };
}
