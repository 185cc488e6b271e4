import * as z from 'zod';
import type { Exchange } from '../../core/dialogue/conversation';
import { lazily } from '../../core/lazily';
import { fenceFor, withoutEnd } from '../../core/text';
import { LINE_END, MarginFences } from '../marginFences';

/** What the chat keeps with each answer of the participant, so that the next one knows the dialogue. */
export const resultSchema = lazily(() =>
  z.object({
    /** What was asked of the agent before this message: the request, or the reply to its last message. */
    asked: z.string(),
    /** The agent's whole message, thoughts included. */
    said: z.string(),
    /** The message holds the final code. */
    isAnswer: z.boolean(),
  }),
);

export type Kept = z.infer<ReturnType<typeof resultSchema>>;

/** A dialogue as far as it has come, and what is asked now. */
export interface Thread {
  /** The request that it began with. */
  readonly description: string;
  /** The last one has the reply that is answered now. */
  readonly exchanges: readonly Exchange[];
  /** Which message of the agent comes now, from 1, counted anew after each answer. */
  readonly turn: number;
}

/** In English: it is for the agent, as the prompts are. */
const ANSWER_NOW = 'Please answer now, with what you know: write the whole function.';

/** A piece of code that the request is about. */
export interface Context {
  /** As the workspace calls its file. */
  readonly file: string;
  readonly code: string;
}

/** What a person's message is to the agent. */
export function askedOf(prompt: string, contexts: readonly Context[], answersNow: boolean): string {
  return [
    prompt.trim(),
    ...contexts.map(({ file, code }) => `From ${file}:\n\n${fenced(code)}`),
    ...(answersNow ? [ANSWER_NOW] : []),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** The chat's turns as the protocol's dialogue. @param kept of the participant's earlier answers, in order */
export function threadOf(kept: readonly Kept[], asked: string): Thread {
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

/** A fence longer than any in the code. */
export function fenced(code: string): string {
  const marks = fenceFor(code, 3);
  return `${marks}python\n${withoutEnd(code, '\n')}\n${marks}`;
}

/**
 * Markdown of a model, line by line, without pictures: they would be fetched from wherever the model says. In code the
 * sign is harmless and may mean something.
 */
export class WithoutPictures {
  private readonly fences = new MarginFences();

  /** @param text whole lines, but for the last piece */
  push(text: string): string {
    return text
      .split(LINE_END)
      .map((line) => this.fences.take(line) ?? line.replaceAll('![', '!\\['))
      .join('\n');
  }
}
