import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import type { PackTask } from '../dialogue/collect';
import type { Evaluated, EvaluationPlan } from '../evaluation/evaluate';
import { taskFigures, type TaskFigures } from '../evaluation/figures';
import { figuresSchema } from '../evaluation/figuresSchema';
import { taskToRow } from '../task/row';
import { readWhole } from '../training/runFolder';
import { ifThere, writeAtomically } from '../trajectory/files';

/** What an evaluation was played with. Those of one key may be compared: same tasks, seeds and rules of play. */
export const settingSchema = z.object({
  key: z.string(),
  /** What the tasks are called: a pack's name. */
  title: z.string(),
  tasks: z.number().int(),
  simulator: z.string(),
  mode: z.enum(['fixed', 'paper']),
  seed: z.number().int(),
  /** Dialogues per task. */
  rollouts: z.number().int(),
  temperature: z.number(),
  max_tokens: z.number().int(),
  max_turns: z.number().int(),
  reply_limit: z.number().int(),
});
export type Setting = z.infer<typeof settingSchema>;

const playedSchema = z.object({
  figures: figuresSchema,
  /** Of each task, so that runs can be paired that were measured on different days. */
  by_task: z.array(
    z.object({ task: z.string(), success: z.number(), testsPassed: z.number(), rollouts: z.number() }),
  ) satisfies z.ZodType<TaskFigures[]>,
});
/** How a model did. */
export type Played = z.infer<typeof playedSchema>;

export const playedOf = ({ figures, trajectories }: Evaluated, mode: EvaluationPlan['mode']): Played => ({
  figures,
  by_task: taskFigures(trajectories, mode),
});

/** `evaluations/<key>.json` of a run. */
const keptSchema = z.object({
  version: z.literal(1),
  /** ISO 8601, UTC. */
  at: z.string(),
  setting: settingSchema,
  /** The run's own model, and the one that it began with where that can play. */
  model: playedSchema,
  start: playedSchema.optional(),
});
export type Kept = z.infer<typeof keptSchema>;

const FOLDER = 'evaluations';

type Plan = Omit<EvaluationPlan, 'agents' | 'onProgress'>;

/** @param title of the tasks */
export function settingOf(plan: Plan, title: string): Setting {
  const { tasks, simulator, mode, seed, rollouts, sampling, protocol, prompts } = plan;
  const identity = [
    tasks.map(({ task }) => taskToRow(task)),
    [simulator.name, simulator.fingerprint],
    [mode, seed, rollouts, sampling, protocol, prompts.versions],
  ];
  return {
    key: createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12),
    ...{ title, tasks: tasks.length, simulator: simulator.name, mode, seed, rollouts },
    temperature: sampling.temperature,
    max_tokens: sampling.maxTokens,
    max_turns: protocol.maxTurns,
    reply_limit: protocol.replyLimit,
  };
}

/** Keeps a result in the folder of its run, with the tasks as a pack beside it: `tandem evaluate` takes that. */
export async function keep(
  runFolder: string,
  setting: Setting,
  tasks: readonly PackTask[],
  played: Pick<Kept, 'model' | 'start'>,
): Promise<void> {
  const rows = tasks.map(({ task }) => `${JSON.stringify(taskToRow(task))}\n`);
  await writeAtomically(path.join(runFolder, packOf(setting)), (file) => file.writeFile(rows.join('')));
  const kept: Kept = { version: 1, at: new Date().toISOString(), setting, ...played };
  await writeAtomically(path.join(runFolder, FOLDER, `${setting.key}.json`), (file) =>
    file.writeFile(`${JSON.stringify(kept)}\n`),
  );
}

/** The pack with the tasks of an evaluation, in the folder of each run that it measured. */
export const packOf = ({ key }: Setting): string => path.join(FOLDER, `${key}.tasks.jsonl`);

/** When an evaluation of a run was last kept, as its folder tells it, in milliseconds; undefined when none ever was. */
export const evaluatedAt = async (runFolder: string): Promise<number | undefined> =>
  (await ifThere(() => stat(path.join(runFolder, FOLDER))))?.mtimeMs;

/** The evaluations of a run. */
export async function keptOf(runFolder: string): Promise<Kept[]> {
  const folder = path.join(runFolder, FOLDER);
  const names = (await ifThere(() => readdir(folder))) ?? [];
  const read = names
    .filter((name) => name.endsWith('.json'))
    .map((name) => readWhole(path.join(folder, name), keptSchema));
  return (await Promise.all(read)).filter((one) => one !== undefined);
}
