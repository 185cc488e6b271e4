import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Tokenizer } from '@huggingface/tokenizers';
import * as z from 'zod';
import { Fault } from '../../../fault';
import type { ChatMessage } from '../../model';
import { ChatFiles } from '../chat';
import { damaged, readJson } from '../files';
import type { CriticFile } from './criticFile';
import { withHiddenInformation } from './hiddenInformation';

// Encodes a conversation for a critic, token for token as the trainer does: template.py and prompt_file.py
// in trainer/tandem_trainer/data.

/** The agent's message in the test conversation that shows how a template ends a turn. */
const PROBE = 'Zebra';

export class CriticTemplate extends ChatFiles {
  /** Ends a message of the agent. */
  readonly endOfTurn: number;
  /** Ids of the possible last tokens of a turn that the agent ended. */
  readonly ends: ReadonlySet<number>;
  /** All ids are below it. */
  readonly vocabulary: number;
  readonly #prompt: string;
  /** Text before which a conversation can be split, so that the pieces can be tokenised separately. */
  readonly #cut: string | undefined;
  readonly #pieces = new Map<string, readonly number[]>();

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string, { prompt, template_options }: CriticFile) {
    super(folder, template_options);
    this.#prompt = prompt;
    const added = [...this.tokenizer.get_added_tokens_decoder().values()];
    this.endOfTurn = this.#probe();
    this.ends = new Set([...added.filter(({ special }) => special).map(({ id }) => id), this.endOfTurn]);
    this.vocabulary = rowsOf(folder, this.tokenizer);
    this.#cut = textThatMatchesAnywhere(this.tokenizer, this.endOfTurn);
  }

  told(messages: readonly ChatMessage[], hiddenInformation: string): readonly ChatMessage[] {
    return withHiddenInformation(messages, hiddenInformation, this.#prompt);
  }

  /** Turns of one dialogue repeat most of their text, so pieces are cached until `forget`. */
  encode(text: string): number[] {
    const cut = this.#cut;
    if (cut === undefined || !text.includes(cut)) return [...this.#encodePiece(text)];
    const [first, ...others] = text.split(cut);
    const pieces = [...(first === '' ? [] : [first!]), ...others.map((other) => cut + other)];
    return pieces.flatMap((piece) => [...this.#encodePiece(piece)]);
  }

  forget(): void {
    this.#pieces.clear();
  }

  #encodePiece(piece: string): readonly number[] {
    let ids = this.#pieces.get(piece);
    if (ids === undefined) {
      ids = this.idsOf(piece);
      const beyond = ids.find((id) => id >= this.vocabulary);
      if (beyond !== undefined) throw damaged(this.folder, `its model has no row for token ${beyond}`);
      this.#pieces.set(piece, ids);
    }
    return ids;
  }

  /** The first added token after a message of the agent, or else the token that ends a text. */
  #probe(): number {
    const conversation = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: PROBE },
    ] as const;
    const text = this.render(conversation, false);
    const at = text.lastIndexOf(PROBE);
    if (at < 0) throw this.#foreign('leaves out what the assistant says');
    const added = this.tokenizer.get_added_tokens_decoder();
    const ids = this.idsOf(text.slice(at + PROBE.length));
    const token = ids.find((id) => (added.get(id)?.content.trim() ?? '') !== '') ?? this.endOfText;
    if (token === undefined) throw this.#foreign('ends no turn');
    return token;
  }

  #foreign(what: string): Fault {
    return new Fault(
      'model/foreign-folder',
      `The chat template of ${this.folder} ${what}. Score with the trainer instead.`,
    );
  }
}

const rowsForm = z.looseObject({ vocab_size: z.int().positive() });

/** The rows of the embedding; ids may be sparse, so that the number of tokens says nothing. */
function rowsOf(folder: string, tokenizer: Tokenizer): number {
  const read = existsSync(path.join(folder, 'config.json'))
    ? rowsForm.safeParse(readJson(folder, 'config.json'))
    : undefined;
  if (read?.success === true) return read.data.vocab_size;
  return 1 + [...tokenizer.get_vocab(true).values()].reduce((largest, id) => Math.max(largest, id), -1);
}

/**
 * The token's text if the tokenizer recognises it wherever it occurs, so that the ids before it do not depend on what
 * follows. It does not if it strips white space to its left, must be a single word, is compared after normalisation,
 * or if another added token could swallow its beginning.
 */
function textThatMatchesAnywhere(tokenizer: Tokenizer, id: number): string | undefined {
  const added = tokenizer.get_added_tokens_decoder();
  const token = added.get(id);
  if (token === undefined || token.lstrip || token.single_word) return undefined;
  if (token.normalized && tokenizer.normalizer !== null) return undefined;
  const text = token.content;
  const swallows = (other: string): boolean =>
    other.includes(text) ||
    Array.from({ length: text.length - 1 }, (_, cut) => text.slice(0, cut + 1)).some((begin) =>
      other.endsWith(begin),
    );
  const others = [...added.values()].map(({ content }) => content).filter((content) => content !== text);
  return others.some(swallows) ? undefined : text;
}
