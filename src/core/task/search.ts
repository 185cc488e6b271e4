interface Searchable {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

export interface Found<T> {
  /** Matches, at most as many as were asked for. */
  readonly tasks: readonly T[];
  readonly total: number;
}

/** Tasks that hold every word, those with all words in the title first. An empty query returns all tasks. */
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

/** Returns one line of a description, from shortly before its first word of the query. */
export function excerpt(description: string, query: string): string {
  const line = description.replace(/\s+/g, ' ').trim();
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const at = words.map((word) => line.toLowerCase().indexOf(word)).find((index) => index >= 0) ?? 0;
  const from = at <= BEFORE ? 0 : line.indexOf(' ', at - BEFORE) + 1;
  const end = from + EXCERPT;
  return `${from > 0 ? '…' : ''}${line.slice(from, end)}${end < line.length ? '…' : ''}`;
}
