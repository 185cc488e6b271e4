import type { ChatMessage } from '../../model';
import type { CriticDialogue, SpokenTurn } from './protocol';
import type { CriticTemplate } from './template';
import { withoutEnd } from '../../../text';

/** The tokens before a turn, and the tokens of the turn. */
export interface TokenTurn {
  readonly prompt: readonly number[];
  readonly response: readonly number[];
}

/** A dialogue as the models read it: its turns with and without the hidden information. */
interface Views {
  readonly plain: readonly TokenTurn[];
  /** Absent if there is no hidden information. */
  readonly informed?: readonly TokenTurn[];
}

/**
 * The reason why a dialogue cannot be scored: in a few words, by which such dialogues are counted, and in a sentence.
 */
interface UnscorableReason {
  readonly why: string;
  readonly reason: string;
}

/**
 * Determines the tokens of every turn: the sampled ones if they match its text, or else its text's, tokenised once. It
 * works like the trainer's settle.py and template.py.
 */
export function viewsOf(dialogue: CriticDialogue, template: CriticTemplate): Views | UnscorableReason {
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

/** Tells whether a tokenizer with this many tokens knows all ids. */
const areKnown = (ids: readonly number[], vocabulary: number): boolean => ids.every((id) => id < vocabulary);

/** Returns the tokens of a turn, and of its prompt if the sampler reported them and they belong to this tokenizer. */
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

/**
 * Tells whether decoded tokens match a text. A truncated text may end in part of a character, and a server may have
 * removed the thoughts from the text.
 */
function says(decoded: string, text: string, { reasoning = '' }: SpokenTurn): boolean {
  const bare = (from: string): string => withoutEnd(from, '\uFFFD').trim();
  const thoughts = reasoning.trim();
  if (bare(decoded) === bare(text)) return true;
  return thoughts !== '' && bare(decoded).endsWith(bare(text)) && bare(decoded).includes(thoughts);
}

/** Returns the tokens of a text after its prompt, or on its own if they would merge with the prompt. */
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
