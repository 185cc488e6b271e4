import type { TaskState } from '../../core/dialogue/taskProgress';

const UNFINISHED: ReadonlySet<TaskState['kind']> = new Set(['new', 'draft', 'redo']);

/** After a given task first, then from the beginning. Tasks to be redone count as unfinished, skipped ones do not. */
export function nextUnfinished<T extends { readonly id: string }>(
  tasks: readonly T[],
  after: string | undefined,
  state: (task: T) => TaskState,
): T | undefined {
  const start = tasks.findIndex(({ id }) => id === after) + 1;
  const inOrder = [...tasks.slice(start), ...tasks.slice(0, start)];
  return inOrder.find((task) => task.id !== after && UNFINISHED.has(state(task).kind));
}
