import { choiceBy } from '../seed';
import { checkInWords, checkPage } from '../page/checks';
import { differencesOf } from '../page/differences';
import { differenceInWords } from '../page/outlineWords';
import { isOfPage, type PageReader } from '../page/outline';
import type { PageCheck } from '../pageCheck';
import { draftOf } from './drafts';

/** Raise it when the same draft could get another reply than before: a collection is of one version. */
export const PAGE_RULES_VERSION = 1;

/** Differences that a reply tells, and those that were told before and still stand. */
const MAX_TOLD = 2;

export interface PageRulesPosition {
  /** HTML. */
  readonly wanted: string;
  /** Of the task; its failing checks are told in place of what is seen. */
  readonly checks?: readonly PageCheck[];
  readonly message: string;
  /** The collaborator's earlier replies in this dialogue. */
  readonly history: readonly string[];
  /** Chooses the wordings. */
  readonly seed: number;
  readonly replyLimit: number;
}

interface PageReply {
  readonly text: string;
  /** True when the draft was compared with the wanted page. */
  readonly comparedPages: boolean;
}

const wordings = {
  noPage: [
    'I see no page. Please show me one whole page, from <html> to </html>.',
    'There is no page in your message. Show me the whole page, from <html> to </html>, please.',
  ],
  alike: [
    'That is the page that I want. Nothing is left to change.',
    'It looks right now, I have nothing left to change.',
    'Nothing is left to change, that is it.',
  ],
  again: ['As I said:', 'Still:', 'This is still to be done:'],
} as const;

/**
 * Plays the collaborator by rules: compares the draft with the wanted page, or checks it, and tells what is seen first,
 * at most two differences that it has not told yet. What was told and still stands is repeated when nothing new is left.
 *
 * @throws {Fault} `page/browser-failed`, and what drawing the wanted page throws
 */
export async function answerByDifferences(
  position: PageRulesPosition,
  pages: PageReader,
): Promise<PageReply> {
  const all = await differencesInWords(position, pages);
  if ('text' in all) return { text: all.text, comparedPages: false };
  return { text: replyTelling(all, position), comparedPages: true };
}

/** What a person would ask for, or the reply to a message without a page that can be compared. */
async function differencesInWords(
  position: PageRulesPosition,
  pages: PageReader,
): Promise<readonly string[] | { readonly text: string }> {
  const { checks } = position;
  if (checks === undefined) {
    const pair = await bothPages(position, (html) => pages.outlineOf(html));
    if ('text' in pair) return pair;
    const { draft, wanted } = pair;
    return differencesOf(draft, wanted).map((difference) => differenceInWords(difference, wanted));
  }
  const pair = await bothPages(position, (html) => Promise.resolve(checkPage(html, checks, pages.sheet)));
  if ('text' in pair) return pair;
  return [...new Set(pair.draft.filter(({ passed }) => !passed).map(checkInWords))];
}

/** What a collaborator says of all differences, one sentence each. */
export function replyTelling(
  all: readonly string[],
  position: Pick<PageRulesPosition, 'history' | 'seed' | 'replyLimit'>,
): string {
  const { history, replyLimit } = position;
  const untold = all.filter((sentence) => !history.some((reply) => reply.includes(sentence)));
  if (all.length === 0) return choose('alike', position);
  const first = untold.length === 0 ? [choose('again', position)] : [];
  const told = (untold.length === 0 ? all : untold).slice(0, MAX_TOLD);
  const whole = [...first, ...told].join(' ');
  return Array.from(whole).length <= replyLimit ? whole : [...first, told[0]].join(' ');
}

/**
 * Reads the draft of the agent's message and the wanted page.
 * @returns what any simulator replies to a message without a page, or with one that is not drawn, in place of them
 * @throws what reading the wanted page throws
 */
export async function bothPages<T>(
  position: PageRulesPosition,
  read: (html: string) => Promise<T>,
): Promise<{ readonly draft: T; readonly wanted: T } | { readonly text: string }> {
  const html = draftOf(position.message);
  if (html === undefined) return { text: choose('noPage', position) };
  const wanted = await read(position.wanted);
  try {
    return { draft: await read(html), wanted };
  } catch (error) {
    if (isOfPage(error)) return { text: error.english };
    throw error;
  }
}

function choose(
  occasion: keyof typeof wordings,
  { seed, history }: Pick<PageRulesPosition, 'history' | 'seed'>,
): string {
  return choiceBy(wordings[occasion], seed, history.length, occasion);
}
