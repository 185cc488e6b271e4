import { existsSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { damaged, readJson } from './files';

type Tokens = Readonly<Record<string, string>>;

/** Tokens that transformers knows of a class even if the folder does not name them. */
const TOKENS_OF_CLASS: Readonly<Record<string, Tokens>> = {
  GemmaTokenizer: {
    bos_token: '<bos>',
    eos_token: '<eos>',
    unk_token: '<unk>',
    pad_token: '<pad>',
    mask_token: '<mask>',
  },
  GPT2Tokenizer: { bos_token: '<|endoftext|>', eos_token: '<|endoftext|>', unk_token: '<|endoftext|>' },
  LlamaTokenizer: { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>' },
  Qwen2Tokenizer: { eos_token: '<|endoftext|>', unk_token: '<|endoftext|>', pad_token: '<|endoftext|>' },
};

const CLASS_OF_MODEL: Readonly<Record<string, string>> = {
  gemma: 'GemmaTokenizer',
  gemma2: 'GemmaTokenizer',
  gemma3_text: 'GemmaTokenizer',
  gpt2: 'GPT2Tokenizer',
  qwen2: 'Qwen2Tokenizer',
  qwen3: 'Qwen2Tokenizer',
};

/** Model types whose declared class transformers ignores. */
const WITHOUT_CLASS = ['mistral', 'phi3'];

const form = z.looseObject({
  tokenizer_class: z.string().nullish(),
  model_type: z.string().nullish(),
  added_tokens_decoder: z.looseObject({}).nullish(),
});

type Form = z.infer<typeof form>;

/**
 * Reads special tokens by their names in templates, such as `bos_token`, from all files in which transformers finds them:
 * trainer/tests/special_tokens.json has the same cases for both.
 * @throws {Fault} `model/damaged-folder`
 */
export function readSpecialTokens(folder: string): Tokens {
  const configured = read(folder, 'tokenizer_config.json');
  const isByteLevel = JSON.stringify(readJson(folder, 'tokenizer.json')).includes('"ByteLevel"');
  const tokens = new Map(Object.entries(ofClass(configured, read(folder, 'config.json'), isByteLevel)));
  take(tokens, configured);
  // transformers reads the older file only if tokenizer_config.json does not list the added tokens.
  if (configured.added_tokens_decoder == null) take(tokens, read(folder, 'special_tokens_map.json'));
  return Object.fromEntries(tokens);
}

function read(folder: string, name: string): Form {
  if (!existsSync(path.join(folder, name))) return form.parse({});
  const found = form.safeParse(readJson(folder, name));
  if (found.success) return found.data;
  throw damaged(path.join(folder, name), found.error.issues[0]!.message);
}

function ofClass(configured: Form, { model_type, tokenizer_class }: Form, isByteLevel: boolean): Tokens {
  const type = model_type ?? '';
  if (WITHOUT_CLASS.includes(type)) return {};
  const declared = (configured.tokenizer_class ?? tokenizer_class)?.replace(/Fast$/, '');
  const name = type === 'qwen2' || declared === undefined ? CLASS_OF_MODEL[type] : declared;
  if (name === undefined || (name === 'LlamaTokenizer' && isByteLevel)) return {};
  return TOKENS_OF_CLASS[name] ?? {};
}

/** Null takes a token away. Other values, such as those of `add_bos_token`, are no tokens. */
function take(tokens: Map<string, string>, from: Form): void {
  const extra = z.record(z.string(), z.unknown()).safeParse(from.extra_special_tokens);
  const named = Object.entries({ ...from, ...(extra.success ? extra.data : {}) });
  for (const [name, value] of named.filter(([key]) => key.endsWith('_token'))) {
    const text = tokenForm.safeParse(value);
    if (text.success) tokens.set(name, text.data);
    else if (value === null) tokens.delete(name);
  }
}

const tokenForm = z.union([
  z.string(),
  z.object({ content: z.string() }).transform(({ content }) => content),
]);
