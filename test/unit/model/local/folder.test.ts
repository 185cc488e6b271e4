import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Chat } from '../../../../src/core/model/local/chat';
import { readLocalFolder } from '../../../../src/core/model/local/folder';
import { openModel } from '../../../../src/core/model/spec';
import { LocalModel } from '../../../../src/core/model/local/model';
import { hasPipes, putPipe } from '../../../fixtures/oddFiles';
import { errorOf, question } from '../play';

let folder: string;
const starter = path.resolve('media/starter');

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-folder-'));
  await cp(starter, folder, { recursive: true });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const remove = (name: string): Promise<void> => rm(path.join(folder, name), { recursive: true });
const write = (name: string, text: string): Promise<void> => writeFile(path.join(folder, name), text);

/** Generates a first turn. */
async function asked(): Promise<unknown> {
  const model = new LocalModel({ name: 'local:x', folder, inference: path.resolve('dist/inference.js') });
  try {
    return await errorOf(model.generate(question, { temperature: 0, maxTokens: 4 }));
  } finally {
    await model.close();
  }
}

it.each<[string, () => Promise<unknown>]>([
  ['config.json', () => remove('config.json')],
  ['tandem onnx', () => remove('onnx')],
  ['config.json cannot be used', () => write('config.json', '{"architectures": [')],
  [
    'It runs decoders',
    () => write('config.json', '{"architectures": ["BertModel"], "vocab_size": 100, "hidden_size": 8}'),
  ],
  ['tokenizer.json', () => remove('tokenizer.json')],
])('a folder is refused with what it lacks: %s', async (part, damage) => {
  await damage();
  expect(() => readLocalFolder(folder)).toThrow(part);
});

/** test_folder_check.py makes the same folders for the trainer. */
const bad = z
  .array(
    z.object({
      name: z.string(),
      files: z.record(z.string(), z.union([z.null(), z.string(), z.record(z.string(), z.unknown())])),
      play: z.string().nullable(),
    }),
  )
  .parse(JSON.parse(readFileSync('trainer/tests/bad_folders.json', 'utf8')));

it.each(bad.filter(({ play }) => play !== null))('a folder is refused: $name', async ({ files, play }) => {
  for (const [name, content] of Object.entries(files)) {
    if (content === null) await remove(name);
    else if (typeof content === 'string') await write(name, content);
    else {
      const whole = JSON.parse(await readFile(path.join(folder, name), 'utf8')) as object;
      await write(name, JSON.stringify({ ...whole, ...content }));
    }
  }
  expect(() => [readLocalFolder(folder), new Chat(folder)]).toThrow(new RegExp(play ?? ''));
});

it.each(['gemma2', 'mistral'])('a template that refuses a system message plays: %s', async (family) => {
  await cp(path.resolve(`trainer/tests/templates/${family}.jinja`), path.join(folder, 'chat_template.jinja'));
  const chat = new Chat(folder);
  expect(chat.encode([{ role: 'user', content: 'Hello' }])).not.toEqual([]);
  expect(() => chat.encode([{ role: 'assistant', content: 'Hello' }])).toThrow('refuses the conversation');
});

it('a GGUF file, or a folder of nothing else, is refused with both ways to use it', async () => {
  await remove('config.json');
  await write('tiny.gguf', 'GGUF');
  const file = path.join(folder, 'tiny.gguf');
  for (const place of [folder, file]) {
    expect(() => readLocalFolder(place)).toThrow(`tandem convert ${file} ${path.join(folder, 'tiny')}`);
    expect(() => readLocalFolder(place)).toThrow(`llama-server -m ${file}`);
    expect(() => openModel(place)).toThrow('GGUF');
  }
});

async function shiftTokens(): Promise<void> {
  const tokenizer = JSON.parse(await readFile(path.join(folder, 'tokenizer.json'), 'utf8')) as {
    model: { vocab: Record<string, number> };
  };
  for (const token of Object.keys(tokenizer.model.vocab)) tokenizer.model.vocab[token]! += 100_000;
  await write('tokenizer.json', JSON.stringify(tokenizer));
}

it.each<[string, string, () => Promise<unknown>]>([
  [
    'a cut graph',
    'model/damaged-folder',
    () => Promise.all(['model', 'model_int8'].map((name) => write(`onnx/${name}.onnx`, 'x'))),
  ],
  ['the tokenizer of another model', 'model/damaged-folder', shiftTokens],
  [
    'an unknown kind of tokenizer',
    'model/damaged-folder',
    () => write('tokenizer.json', '{"model": {"type": "Unheard"}}'),
  ],
  [
    'a torn chat template',
    'model/damaged-folder',
    () => write('chat_template.jinja', '{% for message in messages %}'),
  ],
  [
    'a chat template that refuses every conversation',
    'model/foreign-folder',
    () => write('chat_template.jinja', "{{ raise_exception('Only one message is allowed.') }}"),
  ],
])('%s is found when it is used', async (_, code, damage) => {
  await damage();
  expect(await asked()).toMatchObject({ code });
});

it('the fingerprint is that of weights and tokenizer, wherever the folder is', async () => {
  const copy = path.join(folder, 'copy');
  await mkdir(copy);
  await cp(starter, copy, { recursive: true });
  expect(readLocalFolder(copy).fingerprint).toBe(readLocalFolder(folder).fingerprint);
  await write('chat_template.jinja', 'other');
  expect(readLocalFolder(copy).fingerprint).not.toBe(readLocalFolder(folder).fingerprint);
});

it('a small model plays in full precision, and in another one when its graph is named', () => {
  expect(readLocalFolder(folder).precision).toBe('fp32');
  expect(readLocalFolder(path.join(folder, 'onnx', 'model_int8.onnx'))).toMatchObject({
    folder,
    precision: 'int8',
  });
});

describe('graphs that were made before the weights changed', () => {
  const graph = (name: string): string => path.join(folder, 'onnx', name);
  /** Digest of the test's weight file of four bytes, as recorded by `tandem onnx`. */
  const ofTheseWeights = '4ff9aa1ee8745881';
  const record = (graphs: Record<string, string>): Promise<void> =>
    write(
      'onnx/export.json',
      JSON.stringify({
        version: 1,
        graphs: Object.fromEntries(
          Object.entries(graphs).map(([name, digest]) => [
            name,
            { weights: { 'model.safetensors': digest } },
          ]),
        ),
      }),
    );
  beforeEach(() => write('model.safetensors', 'four'));

  it('give way to one that was made since', async () => {
    await record({ 'model.onnx': '0000', 'model_int8.onnx': ofTheseWeights });
    expect(readLocalFolder(folder).graph).toBe(graph('model_int8.onnx'));
  });

  it('are refused when there is no other, or when they are named', async () => {
    await record({ 'model.onnx': '0000', 'model_int8.onnx': '0000' });
    for (const place of [folder, graph('model_int8.onnx')])
      expect(() => readLocalFolder(place)).toThrow(
        /was made from other weights than those that are in .* now\. Make it again with: tandem onnx /,
      );
  });

  it('are taken when nothing is recorded of them, or no weights lie beside them', async () => {
    await record({});
    expect(readLocalFolder(folder).graph).toBe(graph('model.onnx'));
    await record({ 'model.onnx': '0000' });
    await remove('model.safetensors');
    expect(readLocalFolder(folder).graph).toBe(graph('model.onnx'));
  });
});

it
  .runIf(hasPipes)
  .each([
    ...['config.json', 'generation_config.json', 'chat_template.jinja', 'tokenizer.json'],
    ...['onnx/model.onnx', 'onnx/weights.bin', 'onnx/export.json', 'model.safetensors'],
  ])('says that %s is a pipe, and does not wait for it', async (name) => {
  await putPipe(path.join(folder, name));
  // Some files are read when a model is made, others when it is asked.
  expect(await asked().catch((error: unknown) => error)).toMatchObject({
    code: 'file/not-regular',
    message: expect.stringContaining(`${path.join(folder, name)} is a pipe`) as string,
  });
});
