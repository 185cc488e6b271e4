import * as z from 'zod';
import type { Exchange } from '../../core/dialogue/conversation';
import { NO_PREFERENCE } from '../../core/dialogue/protocol';
import { lazily } from '../../core/lazily';
import { fenced } from '../../core/markdown';
import { withoutEnd } from '../../core/text';
import { LINE_END, MarginFences } from '../marginFences';

/** Metadata that the chat keeps with each answer of the participant, so that the next one knows the dialogue. */
export const resultSchema = lazily(() =>
  z.object({
    /** The message that the agent answered: the request, or the reply to its last message. */
    asked: z.string(),
    /** The agent's whole message, thoughts included. */
    said: z.string(),
    isAnswer: z.boolean(),
  }),
);

export type ChatResult = z.infer<ReturnType<typeof resultSchema>>;

export interface Thread {
  /** The request that began the dialogue. */
  readonly description: string;
  /** The exchanges so far; the last one holds the reply that is answered now. */
  readonly exchanges: readonly Exchange[];
  /** Number of the agent's next message, from 1; it restarts after each answer. */
  readonly turn: number;
}

/**
 * English, as the prompts are, because the agent reads it. Without its first sentence, which agents know from the
 * dialogues that they learned from, a small one asks on.
 */
const ANSWER_NOW = `${NO_PREFERENCE} Please answer now: write the whole function.`;

export interface Context {
  /** Path of the file as the workspace names it. */
  readonly file: string;
  readonly code: string;
}

export function askedOf(prompt: string, contexts: readonly Context[], answersNow: boolean): string {
  return [
    prompt.trim(),
    ...contexts.map(({ file, code }) => `From ${file}:\n\n${fencedPython(code)}`),
    ...(answersNow ? [ANSWER_NOW] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** @param kept the participant's earlier answers, in order */
export function threadOf(kept: readonly ChatResult[], asked: string): Thread {
  const [first] = kept;
  if (first === undefined) return { description: asked, exchanges: [], turn: 1 };
  const replies = [...kept.slice(1).map((each) => each.asked), asked];
  const sinceAnswer = kept.length - (kept.findLastIndex(({ isAnswer }) => isAnswer) + 1);
  return {
    description: first.asked,
    exchanges: kept.map(({ said }, index) => ({ agent: said, reply: replies[index]! })),
    turn: sinceAnswer + 1,
  };
}

export const fencedPython = (code: string): string => fenced(withoutEnd(code, '\n'), 'python');

/** Disables pictures in a model's Markdown: they would be fetched from wherever the model says. Code stays as it is. */
export class PictureRemover {
  private readonly fences = new MarginFences();

  /** @param text whole lines, except for the last piece */
  push(text: string): string {
    return text
      .split(LINE_END)
      .map((line) => this.fences.take(line) ?? line.replaceAll('![', '!\\['))
      .join('\n');
  }
}
