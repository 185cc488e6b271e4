import type { Template } from '@huggingface/jinja';
import type { Tokenizer } from '@huggingface/tokenizers';
import { Fault, messageOf } from '../../../fault';
import type { ChatMessage } from '../../model';
import { openChatFiles } from '../chat';
import type { CriticFile } from './criticFile';

// What a conversation is for a critic, token for token as the trainer makes it: template.py, encode.py and
// prompt_file.py in trainer/tandem_trainer/data.

/** The agent's message in the conversation that shows how a template ends a turn. */
const PROBE = 'Zebra';

const LEADING_COMMENT = /^\s*<!--[\s\S]*?-->\s*/;
const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

export class CriticTemplate {
  /** The token that ends a message of the agent. */
  readonly endOfTurn: number;
  /** The last token of a turn that the agent ended is one of these. */
  readonly ends: ReadonlySet<number>;
  /** Ids are below this. */
  readonly vocabulary: number;
  readonly #folder: string;
  readonly #critic: CriticFile;
  readonly #tokenizer: Tokenizer;
  readonly #template: Template;
  readonly #tokens: Readonly<Record<string, string | undefined>>;
  /** In front of this text a conversation may be cut, and is tokenised piece by piece. */
  readonly #cut: string | undefined;
  readonly #pieces = new Map<string, readonly number[]>();

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string, critic: CriticFile) {
    const { tokenizer, template, tokens } = openChatFiles(folder);
    this.#folder = folder;
    this.#critic = critic;
    this.#tokenizer = tokenizer;
    this.#template = template;
    this.#tokens = tokens;
    const added = [...tokenizer.get_added_tokens_decoder().values()];
    this.endOfTurn = this.#probe();
    this.ends = new Set([...added.filter(({ special }) => special).map(({ id }) => id), this.endOfTurn]);
    this.vocabulary = tokenizer.get_vocab(true).size;
    this.#cut = textThatMatchesAnywhere(tokenizer, this.endOfTurn);
  }

  /** The conversation as text, up to where the agent speaks. @throws {Fault} `model/bad-request` */
  render(messages: readonly ChatMessage[], generation = true): string {
    try {
      return this.#template.render({
        messages,
        add_generation_prompt: generation,
        tools: null,
        documents: null,
        ...this.#tokens,
        ...this.#critic.template_options,
      });
    } catch (error) {
      throw new Fault(
        'model/bad-request',
        `The chat template of ${this.#folder} refuses the conversation: ${messageOf(error).replace(/\.$/, '')}.`,
        { cause: error },
      );
    }
  }

  /** The same with the hidden information in front of the first message of the user. */
  told(messages: readonly ChatMessage[], hiddenInformation: string): readonly ChatMessage[] {
    const values: Readonly<Record<string, string>> = { hiddenInformation };
    const told = this.#critic.prompt
      .replace(/^\uFEFF/, '')
      .replace(LEADING_COMMENT, '')
      .replace(PLACEHOLDER, (_, name: string) => values[name.trim()]!)
      .trim();
    const first = messages.findIndex(({ role }) => role === 'user');
    return messages.map((message, index) =>
      index === first ? { role: 'user', content: `${told}\n\n${message.content}` } : message,
    );
  }

  /** Turns of one dialogue repeat most of their text; so pieces of it are kept until `forget`. */
  encode(text: string): number[] {
    if (text === '') return [];
    const cut = this.#cut;
    if (cut === undefined || !text.includes(cut)) return [...this.#encodePiece(text)];
    const [first, ...others] = text.split(cut);
    const pieces = [...(first === '' ? [] : [first!]), ...others.map((other) => cut + other)];
    return pieces.flatMap((piece) => [...this.#encodePiece(piece)]);
  }

  forget(): void {
    this.#pieces.clear();
  }

  /** Special tokens are left out. */
  decode(ids: readonly number[]): string {
    if (ids.length === 0) return '';
    return this.#tokenizer.decode([...ids], {
      skip_special_tokens: true,
      clean_up_tokenization_spaces: false,
    });
  }

  #encodePiece(piece: string): readonly number[] {
    let ids = this.#pieces.get(piece);
    if (ids === undefined) {
      ids = this.#tokenizer.encode(piece, { add_special_tokens: false }).ids;
      this.#pieces.set(piece, ids);
    }
    return ids;
  }

  /** The first added token behind a message of the agent, else the end of a text. */
  #probe(): number {
    const conversation = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: PROBE },
    ] as const;
    const text = this.render(conversation, false);
    const at = text.lastIndexOf(PROBE);
    if (at < 0) throw this.#foreign('leaves out what the assistant says');
    const added = this.#tokenizer.get_added_tokens_decoder();
    const { ids } = this.#tokenizer.encode(text.slice(at + PROBE.length), { add_special_tokens: false });
    const found = ids.find((id) => (added.get(id)?.content.trim() ?? '') !== '');
    const { eos_token: end } = this.#tokens;
    const token = found ?? (end === undefined ? undefined : this.#tokenizer.token_to_id(end));
    if (token === undefined) throw this.#foreign('ends no turn');
    return token;
  }

  #foreign(what: string): Fault {
    return new Fault(
      'model/foreign-folder',
      `The chat template of ${this.#folder} ${what}. Score with the trainer instead.`,
    );
  }
}

/**
 * The text of a token, if it is found wherever its text stands, so that the ids left of it do not depend on what
 * follows: not when it takes white space to its left, must be a single word, is compared after normalisation, or when
 * another added token could swallow the beginning of it.
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
