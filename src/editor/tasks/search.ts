/** What is searched of a task. */
interface Searchable {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

export interface Found<T> {
  /** At most as many as were asked for. */
  readonly tasks: readonly T[];
  /** How many there are in all. */
  readonly total: number;
}

/**
 * The tasks that hold every word of the query in any case: first those with all of them in the title, then those with
 * some in the description or the id. All tasks for an empty query. Keeps their order.
 */
export function searchTasks<T extends Searchable>(
  tasks: readonly T[],
  query: string,
  limit: number,
): Found<T> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const inTitle: T[] = [];
  const elsewhere: T[] = [];
  for (const task of tasks) {
    const title = task.title.toLowerCase();
    const missing = words.filter((word) => !title.includes(word));
    if (missing.length === 0) {
      inTitle.push(task);
      continue;
    }
    const rest = `${task.id}\n${task.description}`.toLowerCase();
    if (missing.every((word) => rest.includes(word))) elsewhere.push(task);
  }
  const found = [...inTitle, ...elsewhere];
  return { tasks: found.slice(0, limit), total: found.length };
}

const BEFORE = 30;
const EXCERPT = 160;

/** One line of a description, from shortly before the first word of the query that stands in it. */
export function excerpt(description: string, query: string): string {
  const line = description.replace(/\s+/g, ' ').trim();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const at = words.map((word) => line.toLowerCase().indexOf(word)).find((index) => index >= 0) ?? 0;
  const from = at <= BEFORE ? 0 : line.indexOf(' ', at - BEFORE) + 1;
  const end = from + EXCERPT;
  return `${from > 0 ? '…' : ''}${line.slice(from, end)}${end < line.length ? '…' : ''}`;
}
