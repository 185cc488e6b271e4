import type { TaskState } from './progress';

/**
 * The first task that nobody has played to its end, drafts too: those after one task first, then from the beginning.
 * What was skipped is left alone.
 */
export function nextUnfinished<T extends { readonly id: string }>(
  tasks: readonly T[],
  after: string | undefined,
  state: (task: T) => TaskState,
): T | undefined {
  const start = tasks.findIndex(({ id }) => id === after) + 1;
  const inOrder = [...tasks.slice(start), ...tasks.slice(0, start)];
  return inOrder.find((task) => task.id !== after && ['new', 'draft'].includes(state(task).kind));
}
