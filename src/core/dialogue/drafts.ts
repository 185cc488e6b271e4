import { draftIn } from '../page/draft';
import { parseAgentMessage } from './protocol';

/** A page that the agent showed. */
export interface Draft {
  readonly turn: number;
  readonly html: string;
}

/** The page of an agent's message; undefined when it has none, or only in its thoughts. */
export function draftOf(message: string): string | undefined {
  const { answer = '', visible } = parseAgentMessage(message);
  return draftIn(answer) ?? draftIn(visible);
}

/** Where the page begins in a text that is still being written. */
const BEGIN = /(?:(?:`{3,}|~{3,})[a-z]*\s*)?<(?:!doctype|html|body)(?=[\s>])/i;
const MAYBE_BEGIN = /(?:(?:`{3,}|~{3,})[a-z]*\s*)?<[!a-z]{0,8}$/i;

/** The words before a page that is being written, and the length of the page so far. */
export function splitGrowingDraft(text: string): { readonly words: string; readonly characters: number } {
  const begin = text.search(BEGIN);
  if (begin < 0) return { words: text.replace(MAYBE_BEGIN, ''), characters: 0 };
  return { words: text.slice(0, begin).trimEnd(), characters: text.length - begin };
}

interface Said {
  readonly agent: { readonly turn: number; readonly text: string };
}

export const draftsOf = (turns: readonly Said[]): readonly Draft[] =>
  turns.flatMap(({ agent: { turn, text } }) => {
    const html = draftOf(text);
    return html === undefined ? [] : [{ turn, html }];
  });
