import { existsSync } from 'node:fs';
import path from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import * as z from 'zod';
import { Fault, messageOf } from '../../fault';
import type { ChatMessage } from '../model';
import { MB, readTextSync } from '../../regularFile';
import { damaged, readJson } from './files';
import { readSpecialTokens } from './specialTokens';
import { TemplateSyntaxError } from './template/lexer';
import { Template } from './template/template';

const MAX_TEMPLATE_BYTES = MB;

const tokenizerConfigForm = z.looseObject({
  chat_template: z
    .union([z.string(), z.array(z.object({ name: z.string(), template: z.string() }))])
    .nullish(),
});

const endsForm = z.object({ eos_token_id: z.union([z.int(), z.array(z.int())]).nullish() });

/** The tokenizer and the chat template of a model folder. */
export class ChatFiles {
  readonly tokenizer: Tokenizer;
  readonly #template: Template;
  /** Special tokens, keyed by their names in templates. */
  readonly #tokens: Readonly<Record<string, string | undefined>>;

  /**
   * @param variables of the template, besides those that every one gets
   * @throws {Fault} `model/damaged-folder`, `model/foreign-folder`
   */
  constructor(
    readonly folder: string,
    private readonly variables: Readonly<Record<string, unknown>> = {},
  ) {
    const file = path.join(folder, 'tokenizer_config.json');
    const config = tokenizerConfigForm.safeParse(readJson(folder, 'tokenizer_config.json'));
    if (!config.success) throw damaged(file, messageOf(config.error));
    this.tokenizer = openTokenizer(folder, config.data);
    this.#template = openTemplate(folder, config.data.chat_template);
    this.#tokens = readSpecialTokens(folder);
    requirePlainText(folder, (messages) => this.#rendered(messages, true));
  }

  get endOfText(): number | undefined {
    const { eos_token: end } = this.#tokens;
    return end ? this.tokenizer.token_to_id(end) : undefined;
  }

  /**
   * Up to where the agent's message begins, or to the end of the last one.
   * @throws {Fault} `model/bad-request`
   */
  render(messages: readonly ChatMessage[], generation = true): string {
    try {
      return this.#rendered(messages, generation);
    } catch (error) {
      throw new Fault(
        'model/bad-request',
        `The chat template of ${this.folder} refuses the conversation: ${messageOf(error).replace(/\.$/, '')}.`,
        { cause: error },
      );
    }
  }

  #rendered(messages: readonly ChatMessage[], generation: boolean): string {
    return this.#template.render({
      messages,
      add_generation_prompt: generation,
      tools: null,
      documents: null,
      ...this.#tokens,
      ...this.variables,
    });
  }

  idsOf(text: string): number[] {
    return text === '' ? [] : this.tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  decode(ids: readonly number[]): string {
    if (ids.length === 0) return '';
    return this.tokenizer.decode(ids as number[], {
      skip_special_tokens: true,
      clean_up_tokenization_spaces: false,
    });
  }
}

export class Chat extends ChatFiles {
  /** Ids of tokens that end a turn. */
  readonly ends: ReadonlySet<number>;

  /** @throws {Fault} `model/damaged-folder`, `model/foreign-folder` */
  constructor(folder: string) {
    super(folder);
    this.ends = new Set(endsOf(folder, this.endOfText));
  }

  /**
   * Up to where the model's message begins.
   * @throws {Fault} `model/bad-request`
   */
  encode(messages: readonly ChatMessage[]): number[] {
    return this.idsOf(this.render(messages));
  }
}

/** A dialogue as Tandem sends it: texts, the roles in turn, and no system message. `template.py` of the trainer has it. */
const PLAIN: readonly ChatMessage[] = [
  { role: 'user', content: 'Heron' },
  { role: 'assistant', content: 'Zebra' },
  { role: 'user', content: 'Otter' },
];

/**
 * Requires that a template renders all messages of a dialogue: templates of vision models pass over a text without parts.
 * @throws {Fault} `model/foreign-folder`
 */
function requirePlainText(folder: string, render: (messages: readonly ChatMessage[]) => string): void {
  let text: string;
  try {
    text = render(PLAIN);
  } catch (error) {
    const why = messageOf(error).replace(/\.$/, '');
    throw foreignTemplate(folder, `refuses a plain conversation of user and assistant: ${why}`, error);
  }
  const left = PLAIN.find(({ content }) => !text.includes(content));
  if (left)
    throw foreignTemplate(
      folder,
      `leaves out what the ${left.role} says in a plain text, as Tandem sends it`,
    );
}

function openTokenizer(folder: string, config: object): Tokenizer {
  const tokenizer = readJson(folder, 'tokenizer.json');
  try {
    return new Tokenizer(tokenizer as object, config);
  } catch (error) {
    throw damaged(path.join(folder, 'tokenizer.json'), messageOf(error), error);
  }
}

type ConfiguredTemplate = string | { name: string; template: string }[] | null | undefined;

/** A separate file takes precedence, as in transformers. Of named templates the default one plays. */
function openTemplate(folder: string, configured: ConfiguredTemplate): Template {
  const file = path.join(folder, 'chat_template.jinja');
  const named = Array.isArray(configured) ? configured : [];
  const text = existsSync(file)
    ? readTextSync(file, MAX_TEMPLATE_BYTES)
    : Array.isArray(configured)
      ? named.find(({ name }) => name === 'default')?.template
      : configured;
  if (!text && named.length > 0) {
    throw new Fault(
      'model/foreign-folder',
      `The model in ${folder} has the chat templates ${named.map(({ name }) => name).join(', ')} and none that is the default. Name one of them default.`,
    );
  }
  if (!text) {
    throw new Fault(
      'model/foreign-folder',
      `The model in ${folder} has no chat template, so it cannot play a dialogue. Take an instruction-tuned model.`,
    );
  }
  try {
    return new Template(text);
  } catch (error) {
    if (error instanceof TemplateSyntaxError)
      throw damaged(`The chat template of ${folder}`, messageOf(error), error);
    throw foreignTemplate(folder, `cannot be used: ${messageOf(error)}`, error);
  }
}

const foreignTemplate = (folder: string, what: string, cause?: unknown): Fault =>
  new Fault(
    'model/foreign-folder',
    `The chat template of ${folder} ${what}. Take a model with another template.`,
    { cause },
  );

/**
 * Returns the ids that end a turn, as transformers does: from generation_config.json, or else config.json, and the
 * tokenizer's own end.
 */
function endsOf(folder: string, tokenizers: number | undefined): number[] {
  const file = ['generation_config.json', 'config.json'].find((name) => existsSync(path.join(folder, name)))!;
  const read = endsForm.safeParse(readJson(folder, file));
  if (!read.success) throw damaged(path.join(folder, file), messageOf(read.error));
  const ends = [read.data.eos_token_id ?? [], tokenizers ?? []].flat();
  if (ends.length === 0)
    throw new Fault('model/foreign-folder', `The model in ${folder} has no token that ends a turn.`);
  return ends;
}
