import { createHash } from 'node:crypto';
import { Fault } from '../fault';
import { checkPage } from '../page/checks';
import { checkInWords } from '../page/checkWords';
import { differencesOf } from '../page/differences';
import { differenceInWords } from '../page/differenceWords';
import { isOfPage, type PageReader } from '../page/outline';
import type { PageCheck } from '../pageCheck';
import { draftOf } from './drafts';

/** Raise it when the same draft could get another reply than before: a collection is of one version. */
export const PAGE_RULES_VERSION = 1;

/** Differences that a reply tells, and those that were told before and still stand. */
const MAX_TOLD = 2;

interface PageRulesPosition {
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
  const html = draftOf(position.message);
  if (html === undefined) return { text: choose('noPage', position), comparedPages: false };
  const all = await differencesInWords(html, position, pages);
  if (all instanceof Fault) return { text: all.english, comparedPages: false };
  return { text: replyTelling(all, position), comparedPages: true };
}

/** Or why the draft cannot be compared. */
async function differencesInWords(
  html: string,
  { wanted: wantedHtml, checks }: PageRulesPosition,
  pages: PageReader,
): Promise<readonly string[] | Fault> {
  if (checks === undefined) {
    const wanted = await pages.outlineOf(wantedHtml);
    const draft = await pages.outlineOf(html).catch(faultOf);
    if (draft instanceof Fault) return draft;
    return differencesOf(draft, wanted).map((difference) => differenceInWords(difference, wanted));
  }
  try {
    const results = checkPage(html, checks, pages.sheet);
    return [...new Set(results.filter(({ passed }) => !passed).map(checkInWords))];
  } catch (error) {
    return faultOf(error);
  }
}

/** Of the page; what is not the page's is thrown on. */
function faultOf(error: unknown): Fault {
  if (isOfPage(error)) return error;
  throw error;
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

function choose(
  occasion: keyof typeof wordings,
  { seed, history }: Pick<PageRulesPosition, 'history' | 'seed'>,
): string {
  const options = wordings[occasion];
  const hash = createHash('sha256')
    .update(JSON.stringify([seed, history.length, occasion]))
    .digest();
  return options[hash.readUInt32BE() % options.length]!;
}
