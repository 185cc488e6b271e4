import { isProgram, type Task } from '../task/task';
import { LEAK_THRESHOLD, leakedPassages, measureLeak, passagesOf, runsIn, type Leak } from './leak';

/** What every page of the protocol has, so that it gives nothing away. */
const SHARED = /<!doctype[^>]*>|<\/?(?:html|head|body)\s*>|<(?:link|meta)\b[^>]*>/gi;

/** A tag's beginning, a class, attribute or word, and each sign. */
const TOKEN = /<\/?[a-z][\w-]*|[\p{L}\p{N}_][\p{L}\p{N}_\-:/.%#]*|[^\s\p{L}\p{N}_]/giu;

const isMarkup = (token: string): boolean => /^(?:<\/?[a-z]|[=>])/i.test(token);

/**
 * Measures how much of the wanted page a reply gives away as HTML: the share of the page's tags, classes and words that
 * stand in the reply as runs of at least five equal tokens, two of them markup. Words that a reply quotes in plain
 * sentences are what a collaborator is there to say, and do not count.
 * @param html of the wanted page
 */
export function measurePageLeak(html: string, reply: string): Leak {
  const told = tokensOf(reply);
  if (!told.some((token) => token.startsWith('<'))) return { fraction: 0, leaked: false };
  const secret = tokensOf(html.replaceAll(SHARED, ''));
  const covered = runsIn(secret, told, isMarkup).filter(Boolean).length;
  const fraction = secret.length === 0 ? 0 : covered / secret.length;
  return { fraction, leaked: fraction >= LEAK_THRESHOLD };
}

/** Of a function's code or of a page's HTML. */
export const leakOf = (task: Task, reply: string): Leak =>
  isProgram(task) ? measureLeak(task.reference, reply) : measurePageLeak(task.reference, reply);

/** The parts of a reply that give the reference away. */
export function leakedPassagesOf(task: Task, reply: string): string[] {
  if (isProgram(task)) return leakedPassages(task.reference, reply);
  const told = [...reply.matchAll(TOKEN)].map(({ 0: text, index: start }) => ({
    text,
    start,
    end: start + text.length,
  }));
  const isTold = runsIn(
    told.map(({ text }) => text),
    tokensOf(task.reference.replaceAll(SHARED, '')),
    isMarkup,
  );
  return passagesOf(reply, told, isTold);
}

const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];
