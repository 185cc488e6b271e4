import { isOwnFunction } from './own';
import { functionName, requestedName } from './signature';
import { isProgram, type Task } from './task';
import { withoutEnd } from '../text';

/** Eight or more hexadecimal digits, some of them decimal, which no one would say. */
function endsInHash(id: string): boolean {
  const before = withoutEnd(id, '0123456789abcdefABCDEF-');
  const tail = id.slice(before.length);
  // Behind a letter that is no hexadecimal digit, the hash begins at the first hyphen.
  const begin = before === '' ? 0 : tail.indexOf('-') + 1;
  const hash = begin === 0 && before !== '' ? '' : tail.slice(begin).replace(/^-+/, '');
  return hash.length >= 8 && /\d/.test(hash);
}

/** Rows have no title: an id that can be spoken, else the requested function; one's own keeps its name. */
export function taskTitle(task: Task): string {
  if (/[a-z]{3}/i.test(task.id) && !endsInHash(task.id)) return humanized(task.id);
  if (!isProgram(task)) return subjectOf(task.description) ?? task.id;
  // Only the request names a developer's own function.
  if (isOwnFunction(task))
    return requestedName(task.description) ?? openingWords(task.description) ?? task.id;
  const name = functionName(task);
  return name === undefined ? task.id : humanized(name);
}

/** Longest title of a page, in characters. */
const MAX_SUBJECT_CHARS = 60;

/** Published descriptions begin with what the page is: "Bakery Website: …". */
function subjectOf(description: string): string | undefined {
  const [subject = ''] = description.split(/[:.\n]/, 1);
  const words = subject.trim();
  return words === '' || words.length > MAX_SUBJECT_CHARS ? undefined : words;
}

/** The first line of a request that names no function. */
function openingWords(description: string): string | undefined {
  const [first = ''] = description.trim().split('\n', 1);
  const words = first.trim();
  if (words.length <= MAX_SUBJECT_CHARS) return words === '' ? undefined : words;
  return `${words.slice(0, MAX_SUBJECT_CHARS).trimEnd()}…`;
}

/** @param counts how often each title came */
export function numbered(title: string, counts: Map<string, number>): string {
  const count = (counts.get(title) ?? 0) + 1;
  counts.set(title, count);
  return count === 1 ? title : `${title} ${count}`;
}

function humanized(name: string): string {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_\-./]+/g, ' ')
    .trim();
  return words === '' ? name : words[0]!.toUpperCase() + words.slice(1);
}
