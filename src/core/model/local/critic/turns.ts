import type { ChatMessage } from '../../model';
import type { CriticDialogue, SpokenTurn } from './protocol';
import type { CriticTemplate } from './template';
import { withoutEnd } from '../../../text';

/** What a model reads before a turn, and the tokens of the turn. */
export interface Turn {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
}

/** A dialogue as the models read it: its turns with and without the hidden information. */
export interface Views {
  readonly plain: readonly Turn[];
  /** Absent where nothing hidden is known. */
  readonly informed?: readonly Turn[];
}

/** A dialogue that cannot be scored: in a few words, by which such dialogues are counted, and in a sentence. */
export interface Unfit {
  readonly why: string;
  readonly reason: string;
}

/**
 * Gives every turn its tokens: those that were sampled, where they say its text, else its text's, tokenised once. The
 * same as the trainer's settle.py and template.py.
 */
export function viewsOf(dialogue: CriticDialogue, template: CriticTemplate): Views | Unfit {
  const { messages, turns, hiddenInformation } = dialogue;
  const settled = turns.map((turn) => settle(turn, messages, template));
  if (settled.some(({ response }) => response.length === 0)) {
    return {
      why: 'turns without tokens',
      reason: 'A turn of the agent was cut before its first token.',
    };
  }
  const seen = (view: readonly ChatMessage[], { position }: SpokenTurn): readonly number[] =>
    template.encode(template.render(view.slice(0, position)));
  const plain = settled.map(({ prompt, response }, index) => ({
    prompt: prompt ?? seen(messages, turns[index]!),
    response,
  }));
  if (hiddenInformation === undefined) return { plain };
  const told = template.told(messages, hiddenInformation);
  const informed = settled.map(({ response }, index) => ({ prompt: seen(told, turns[index]!), response }));
  return { plain, informed };
}

/** Whether a tokenizer with so many tokens has all of them. */
const areKnown = (ids: readonly number[], vocabulary: number): boolean => ids.every((id) => id < vocabulary);

/** The tokens of a turn, and of its prompt where the sampler said them and they are this tokenizer's. */
function settle(
  turn: SpokenTurn,
  messages: readonly ChatMessage[],
  template: CriticTemplate,
): { readonly prompt?: readonly number[]; readonly response: readonly number[] } {
  const { ids, promptIds, position, finishReason } = turn;
  const { content } = messages[position]!;
  if (
    ids !== undefined &&
    ids.length > 0 &&
    areKnown([...ids, ...(promptIds ?? [])], template.vocabulary) &&
    says(template.decode(withoutEndToken(ids, template)), content, turn)
  ) {
    const ended = finishReason === 'stop' && !template.ends.has(ids.at(-1)!);
    return {
      ...(promptIds !== undefined && promptIds.length > 0 && { prompt: promptIds }),
      response: ended ? [...ids, template.endOfTurn] : ids,
    };
  }
  const text = tokensOf(content, messages.slice(0, position), template);
  const ended = finishReason !== 'length' && !(text.length > 0 && template.ends.has(text.at(-1)!));
  return { response: ended ? [...text, template.endOfTurn] : text };
}

/** A text that was cut may end in part of a character; a server may have taken the thoughts out of the text. */
function says(decoded: string, text: string, { reasoning = '' }: SpokenTurn): boolean {
  const bare = (from: string): string => withoutEnd(from, '\uFFFD').trim();
  const thoughts = reasoning.trim();
  if (bare(decoded) === bare(text)) return true;
  return thoughts !== '' && bare(decoded).endsWith(bare(text)) && bare(decoded).includes(thoughts);
}

/** As it follows its prompt, or on its own where that would alter the prompt. */
function tokensOf(text: string, before: readonly ChatMessage[], template: CriticTemplate): readonly number[] {
  const rendered = template.render(before);
  const prompt = template.encode(rendered);
  const whole = template.encode(rendered + text);
  return startsWith(whole, prompt) ? whole.slice(prompt.length) : template.encode(text);
}

const withoutEndToken = (ids: readonly number[], { ends }: CriticTemplate): readonly number[] =>
  ends.has(ids.at(-1)!) ? ids.slice(0, -1) : ids;

export function startsWith(ids: readonly number[], beginning: readonly number[]): boolean {
  return beginning.length <= ids.length && beginning.every((id, index) => id === ids[index]);
}
