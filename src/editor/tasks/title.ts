import { functionName } from '../../core/task/signature';
import type { Task } from '../../core/task/task';

/** Rows have no title: a spoken id serves as one, else the name of the function that is asked for. */
export function taskTitle(task: Task): string {
  if (/[a-z]{3}/i.test(task.id) && !/^[0-9a-f-]{8,}$/i.test(task.id)) return humanized(task.id);
  const name = functionName(task);
  return name === undefined ? task.id : humanized(name);
}

function humanized(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_\-./]+/g, ' ')
    .trim();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1);
}
