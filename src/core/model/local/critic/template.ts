import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Tokenizer } from '@huggingface/tokenizers';
import * as z from 'zod';
import { Fault } from '../../../fault';
import type { ChatMessage } from '../../model';
import { ChatFiles } from '../chat';
import { damaged, readJson } from '../files';
import { withHiddenInformation, type CriticFile } from './criticFile';

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
  readonly #encoded = new Map<string, readonly number[]>();

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string, { prompt, template_options }: CriticFile) {
    super(folder, template_options);
    this.#prompt = prompt;
    const added = [...this.tokenizer.get_added_tokens_decoder().values()];
    this.endOfTurn = this.#probe();
    this.ends = new Set([...added.filter(({ special }) => special).map(({ id }) => id), this.endOfTurn]);
    this.vocabulary = rowsOf(folder, this.tokenizer);
  }

  told(messages: readonly ChatMessage[], hiddenInformation: string): readonly ChatMessage[] {
    return withHiddenInformation(messages, hiddenInformation, this.#prompt);
  }

  /** Cached until `forget`: each history is tokenised for its turn and for the one after it. */
  encode(text: string): readonly number[] {
    const known = this.#encoded.get(text);
    if (known !== undefined) return known;
    const ids = this.idsOf(text);
    const beyond = ids.find((id) => id >= this.vocabulary);
    if (beyond !== undefined) throw damaged(this.folder, `its model has no row for token ${beyond}`);
    this.#encoded.set(text, ids);
    return ids;
  }

  forget(): void {
    this.#encoded.clear();
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
