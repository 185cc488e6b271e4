import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { PackTask } from '../../dialogue/collect';
import type { Evaluated, EvaluationPlan } from '../evaluate';
import { taskFigures } from '../figures';
import { figuresSchema, taskFiguresSchema } from '../figureSchemas';
import { PAGE_RULES_VERSION } from '../../dialogue/pageRules';
import { taskToRow } from '../../task/row';
import { isProgram } from '../../task/task';
import { readWhole, runFiles } from '../../training/runFolder';
import { ifThere, writeAtomically } from '../../trajectory/files';
import { digestOf } from './record';

/** Evaluations with the same key may be compared: same tasks, seeds and rules of play. */
const settingSchema = z.object({
  key: z.string(),
  /** Title of the pack. */
  title: z.string(),
  tasks: z.number().int(),
  simulator: z.string(),
  mode: z.enum(['fixed', 'paper']),
  seed: z.number().int(),
  rollouts: z.number().int(),
  temperature: z.number(),
  max_tokens: z.number().int(),
  max_turns: z.number().int(),
  reply_limit: z.number().int(),
});
export type EvaluationSetting = z.infer<typeof settingSchema>;

const playedSchema = z.object({
  figures: figuresSchema,
  /** By task, so that runs measured on different days can be paired. */
  by_task: z.array(taskFiguresSchema),
});
export type ModelResult = z.infer<typeof playedSchema>;

export const playedOf = (
  { figures, trajectories }: Evaluated,
  mode: EvaluationPlan['mode'],
): ModelResult => ({
  figures,
  by_task: taskFigures(trajectories, mode),
});

/** `evaluations/<key>.json` in the folder of a run. */
const keptSchema = z.object({
  version: z.literal(1),
  /** ISO 8601, UTC. */
  at: z.string(),
  setting: settingSchema,
  /** `start`: the model that the run began with, where that can play. */
  model: playedSchema,
  start: playedSchema.optional(),
});
export type KeptEvaluation = z.infer<typeof keptSchema>;

type Plan = Omit<EvaluationPlan, 'agents' | 'onProgress'>;

/** @param title name of the tasks */
export function settingOf(plan: Plan, title: string): EvaluationSetting {
  const { tasks, simulator, mode, seed, rollouts, sampling, protocol, pageProtocol, prompts } = plan;
  const hasPages = tasks.some(({ task }) => !isProgram(task));
  const identity = [
    tasks.map(({ task }) => taskToRow(task)),
    [simulator.name, simulator.fingerprint],
    [mode, seed, rollouts, sampling, protocol, prompts.versions],
    ...(hasPages ? [[PAGE_RULES_VERSION, pageProtocol, prompts.pageVersions]] : []),
  ];
  return {
    key: digestOf(identity).slice(0, 12),
    ...{ title, tasks: tasks.length, simulator: simulator.name, mode, seed, rollouts },
    temperature: sampling.temperature,
    max_tokens: sampling.maxTokens,
    max_turns: protocol.maxTurns,
    reply_limit: protocol.replyLimit,
  };
}

/** Writes the tasks as a pack beside the result, which `tandem evaluate` can play. */
export async function keep(
  runFolder: string,
  setting: EvaluationSetting,
  tasks: readonly PackTask[],
  played: Pick<KeptEvaluation, 'model' | 'start'>,
): Promise<void> {
  const rows = tasks.map(({ task }) => `${JSON.stringify(taskToRow(task))}\n`);
  await writeAtomically(path.join(runFolder, packOf(setting)), rows.join(''));
  const kept: KeptEvaluation = { version: 1, at: new Date().toISOString(), setting, ...played };
  await writeAtomically(
    path.join(runFolder, runFiles.evaluations, `${setting.key}.json`),
    `${JSON.stringify(kept)}\n`,
  );
}

/** Relative to the folder of each measured run. */
export const packOf = ({ key }: EvaluationSetting): string =>
  path.join(runFiles.evaluations, `${key}.tasks.jsonl`);

/** Milliseconds since 1970; undefined before the first evaluation. */
export const evaluatedAt = async (runFolder: string): Promise<number | undefined> =>
  (await ifThere(() => stat(path.join(runFolder, runFiles.evaluations))))?.mtimeMs;

export async function keptOf(runFolder: string): Promise<KeptEvaluation[]> {
  const folder = path.join(runFolder, runFiles.evaluations);
  const names = (await ifThere(() => readdir(folder))) ?? [];
  const read = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readWhole(path.join(folder, name), keptSchema));
  return (await Promise.all(read)).filter((one) => one !== undefined);
}
