import { open, stat } from 'node:fs/promises';
import { inFlight } from '../../concurrency';
import { Fault } from '../../fault';
import { loadTasks } from '../../task/pack';
import { taskToRow } from '../../task/row';
import { writeAtomically } from '../../trajectory/files';
import { isProgram, type ProgramTask, type Specification, type Task } from '../../task/task';
import { draftSpecification, type SpecificationDrafting } from './draftSpecification';
import { specificationOf, type SpecificationState } from './specification';

export interface PackSpecification extends SpecificationDrafting {
  readonly pack: string;
  /** Written by this; the same call continues where the last one stopped. */
  readonly out: string;
  readonly concurrency: number;
  /** Receives a sentence for each bad line. */
  readonly onLeftOut: (sentence: string) => void;
  readonly onProgress?: (done: number, total: number) => void;
}

export interface SpecifiedPack {
  readonly tasks: number;
  /** Functions by the state of their specification, those of earlier calls included. */
  readonly states: Readonly<Record<SpecificationState, number>>;
  /** Web pages need none. */
  readonly pages: number;
  /** Sentences of the tasks without one. */
  readonly failures: readonly string[];
}

/**
 * Writes a pack again, with a specification for each function that has neither facts nor one. Each task is drafted once:
 * what `out` has is kept, and each draft is there as soon as it is made.
 * @throws {Fault} `task/file-exists` if `out` holds other tasks; as `loadTasks`, `draftSpecification`
 */
export async function specifyPack(plan: PackSpecification): Promise<SpecifiedPack> {
  const { pack, out, concurrency, onLeftOut, onProgress } = plan;
  const { tasks, bad } = await loadTasks(pack, plan);
  for (const { line, reason } of bad) onLeftOut(`${pack}:${line}: left out: ${reason}`);
  const drafted = await draftedIn(out, tasks, plan);
  const undrafted = tasks.filter(
    (task) => isProgram(task) && specificationOf(task) === undefined && !drafted.has(task.id),
  ) as ProgramTask[];
  const whole = (): Task[] =>
    tasks.map((task) => {
      const specification = drafted.get(task.id);
      return specification === undefined ? task : { ...task, specification };
    });
  const failures: string[] = [];
  const written = whole().filter((task) => drafted.has(task.id));
  await writeAtomically(out, written.map(lineOf).join(''));
  const file = await appender(out);
  try {
    let done = 0;
    await inFlight(undrafted, concurrency, async (task) => {
      try {
        const specification = await draftSpecification(task, plan);
        drafted.set(task.id, specification);
        await file.append({ ...task, specification });
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== 'dialogue/no-draft') throw error;
        failures.push(error.message);
      }
      onProgress?.(++done, undrafted.length);
    });
  } finally {
    await file.close();
  }
  await writeAtomically(out, whole().map(lineOf).join(''));
  return { tasks: tasks.length, ...countsOf(whole()), failures };
}

/** @returns the specifications that an earlier call has drafted, by task */
async function draftedIn(
  out: string,
  tasks: readonly Task[],
  { signal }: Pick<PackSpecification, 'signal'>,
): Promise<Map<string, Specification>> {
  const drafted = new Map<string, Specification>();
  const isThere = await stat(out).then(
    () => true,
    () => false,
  );
  if (!isThere) return drafted;
  const asked = new Map(tasks.map((task) => [task.id, task]));
  // The last line may be torn; that task is drafted again.
  const { tasks: before } = await loadTasks(out, { signal });
  for (const one of before) {
    const task = asked.get(one.id);
    if (task === undefined || contentOf(task) !== contentOf(one))
      throw new Fault(
        'task/file-exists',
        `${out} holds the task ${one.id}, which is not in the pack like this; move the file away or name another one.`,
      );
    if (isProgram(one) && one.specification !== undefined) drafted.set(one.id, one.specification);
  }
  return drafted;
}

function contentOf(task: Task): string {
  return JSON.stringify(taskToRow(isProgram(task) ? { ...task, specification: undefined } : task));
}

const lineOf = (task: Task): string => `${JSON.stringify(taskToRow(task))}\n`;

/** Appends one line after the other, also when several tasks end at once. */
async function appender(file: string) {
  const handle = await open(file, 'a');
  let last = Promise.resolve();
  return {
    append: (task: Task): Promise<void> => (last = last.then(() => handle.appendFile(lineOf(task)))),
    close: () => handle.close(),
  };
}

function countsOf(tasks: readonly Task[]): Pick<SpecifiedPack, 'states' | 'pages'> {
  const found = tasks.filter(isProgram).flatMap((task) => specificationOf(task)?.state ?? []);
  const count = (wanted: SpecificationState): number => found.filter((state) => state === wanted).length;
  return {
    states: {
      facts: count('facts'),
      passed: count('passed'),
      failed: count('failed'),
      unchecked: count('unchecked'),
    },
    pages: tasks.filter((task) => !isProgram(task)).length,
  };
}
