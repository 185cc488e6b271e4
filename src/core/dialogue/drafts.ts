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

interface Said {
  readonly agent: { readonly turn: number; readonly text: string };
}

export const draftsOf = (turns: readonly Said[]): readonly Draft[] =>
  turns.flatMap(({ agent: { turn, text } }) => {
    const html = draftOf(text);
    return html === undefined ? [] : [{ turn, html }];
  });
