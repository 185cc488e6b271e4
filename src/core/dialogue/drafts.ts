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

/**
 * The page in an agent's visible message: the first `<html>…</html>`, else the first `<body>…</body>`. A page without
 * its closing tag is none, because a message that was cut off would otherwise count as a draft.
 */
export function draftIn(message: string): string | undefined {
  return elementIn(message, 'html') ?? elementIn(message, 'body');
}

function elementIn(text: string, name: string): string | undefined {
  const start = text.search(new RegExp(`<${name}(?=[\\s>])`, 'i'));
  if (start < 0) return undefined;
  const end = new RegExp(`</${name}\\s*>`, 'i').exec(text.slice(start));
  return end === null ? undefined : text.slice(start, start + end.index + end[0].length);
}

/** Where the page begins in a text that is still being written; perhaps, at its end. */
const BEGIN = /<(?:!doctype|html|body)(?=[\s>])/i;
const MAYBE_BEGIN = /<[!a-z]{0,8}$/i;

/** The words before a page that is being written, and the length of the page so far. */
export function splitGrowingDraft(text: string): { readonly words: string; readonly characters: number } {
  const begin = text.search(BEGIN);
  if (begin >= 0) return { words: withoutFence(text.slice(0, begin)), characters: text.length - begin };
  const maybe = text.search(MAYBE_BEGIN);
  return { words: maybe < 0 ? text : withoutFence(text.slice(0, maybe)), characters: 0 };
}

/** Without the line that opens a block of code, in which many models put their page. */
function withoutFence(words: string): string {
  const line = words.trimEnd().lastIndexOf('\n') + 1;
  return (/^\s{0,3}(?:```|~~~)/.test(words.slice(line)) ? words.slice(0, line) : words).trimEnd();
}

interface Said {
  readonly agent: { readonly turn: number; readonly text: string };
}

export const draftsOf = (turns: readonly Said[]): readonly Draft[] =>
  turns.flatMap(({ agent: { turn, text } }) => {
    const html = draftOf(text);
    return html === undefined ? [] : [{ turn, html }];
  });
