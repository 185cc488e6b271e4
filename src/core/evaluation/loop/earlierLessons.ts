import path from 'node:path';
import { taskToRow } from '../../task/row';
import { isProgram, requestOf } from '../../task/task';
import type { PackTask } from '../../dialogue/collect';
import { runOfModel } from '../../training/data/lineage';
import { keptOf, packOf } from './evaluationCache';
import { loadPack } from './tasks';

/** The latest lessons that are played again; each adds one greedy dialogue a task. */
const MAX_LESSONS = 3;
const MAX_TASKS = 100;

/** Tasks on which an earlier run of the same model was measured. */
export interface EarlierLesson {
  readonly title: string;
  readonly tasks: readonly PackTask[];
  /** With the seed of then, dialogues that are in the log are not played again. */
  readonly seed: number;
}

/**
 * What a model was measured on before it is trained further, the latest first: a run keeps its own tasks and those of the
 * lessons before it. None for a model that no run made.
 * @param now the tasks that it learns from and is measured on now; what it learns from shows no forgetting
 */
export async function earlierLessons(
  model: string,
  now: { readonly train: readonly PackTask[]; readonly heldOut: readonly PackTask[] },
  hasPages: boolean,
): Promise<EarlierLesson[]> {
  const run = await runOfModel(model);
  if (run === undefined) return [];
  const greedy = (await keptOf(run)).filter(
    ({ setting }) => setting.temperature === 0 && setting.mode === 'fixed',
  );
  const lessons: EarlierLesson[] = [];
  const seen = new Set([contentOf(now.heldOut)]);
  const learned = new Set(now.train.map(({ task }) => requestOf(task)));
  for (const { setting } of greedy.toSorted((one, other) => (one.at < other.at ? 1 : -1))) {
    const pack = await loadPack(path.join(run, packOf(setting)));
    const tasks = pack.filter(({ task }) => !learned.has(requestOf(task))).slice(0, MAX_TASKS);
    const content = contentOf(tasks);
    if (lessons.length === MAX_LESSONS || tasks.length === 0 || seen.has(content)) continue;
    seen.add(content);
    if (hasPages || tasks.every(({ task }) => isProgram(task)))
      lessons.push({ title: setting.title, tasks, seed: setting.seed });
  }
  return lessons;
}

const contentOf = (tasks: readonly PackTask[]): string =>
  JSON.stringify(tasks.slice(0, MAX_TASKS).map(({ task }) => taskToRow(task)));
