import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLocalFolder } from '../../../../src/core/model/local/folder';
import { openModel } from '../../../../src/core/model/spec';
import { LocalModel } from '../../../../src/core/model/local/model';
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

describe('a folder is refused with one sentence when', () => {
  it('it is not there', () => {
    expect(() => readLocalFolder('/no/such/folder')).toThrow('There is no model folder /no/such/folder.');
  });

  it('it is no model', async () => {
    await remove('config.json');
    expect(() => readLocalFolder(folder)).toThrow('is not a model folder: it has no config.json.');
  });

  it('it is a GGUF file, or holds nothing else: then both ways on are said', async () => {
    await remove('config.json');
    await write('tiny.gguf', 'GGUF');
    const file = path.join(folder, 'tiny.gguf');
    for (const place of [folder, file]) {
      expect(() => readLocalFolder(place)).toThrow(`tandem convert ${file} ${path.join(folder, 'tiny')}`);
      expect(() => readLocalFolder(place)).toThrow(`llama-server -m ${file}`);
      expect(() => openModel(place)).toThrow(`${file} is a GGUF file, the format of llama.cpp`);
    }
  });

  it('its graph was not made', async () => {
    await remove('onnx');
    expect(() => readLocalFolder(folder)).toThrow(`Make one with: tandem onnx ${folder}`);
  });

  it('its configuration is torn', async () => {
    await write('config.json', '{"architectures": [');
    expect(() => readLocalFolder(folder)).toThrow(
      /config\.json cannot be used: .*Copy or export the model again/,
    );
  });

  it('it is no decoder', async () => {
    await write('config.json', '{"architectures": ["BertModel"], "vocab_size": 100, "hidden_size": 8}');
    expect(() => readLocalFolder(folder)).toThrow('It runs decoders like Llama and Qwen.');
  });

  it('its tokenizer is missing', async () => {
    await remove('tokenizer.json');
    expect(() => readLocalFolder(folder)).toThrow('it has no tokenizer.json');
  });

  it('its graph is cut off', async () => {
    for (const name of ['model.onnx', 'model_int8.onnx']) await write(`onnx/${name}`, 'not a graph');
    expect(await asked()).toMatchObject({
      code: 'model/damaged-folder',
      message: expect.stringMatching(
        /model.*\.onnx cannot be used: .*Copy or export the model again\.$/,
      ) as string,
    });
  });

  it('its tokenizer is that of another model', async () => {
    const tokenizer = JSON.parse(await readFile(path.join(folder, 'tokenizer.json'), 'utf8')) as {
      model: { vocab: Record<string, number> };
    };
    for (const token of Object.keys(tokenizer.model.vocab)) tokenizer.model.vocab[token]! += 100_000;
    await write('tokenizer.json', JSON.stringify(tokenizer));
    expect(await asked()).toMatchObject({
      code: 'model/damaged-folder',
      message: expect.stringMatching(/is another model's: it has a token \d{6}/) as string,
    });
  });

  it('its tokenizer is of a kind that cannot be read', async () => {
    await write('tokenizer.json', '{"model": {"type": "Unheard"}}');
    expect(await asked()).toMatchObject({
      code: 'model/damaged-folder',
      message: expect.stringContaining('tokenizer.json cannot be used') as string,
    });
  });

  it('its chat template is no template', async () => {
    await write('chat_template.jinja', '{% for message in messages %}');
    expect(await asked()).toMatchObject({
      code: 'model/damaged-folder',
      message: expect.stringContaining('The chat template of') as string,
    });
  });

  it('its chat template refuses the conversation', async () => {
    await write('chat_template.jinja', "{{ raise_exception('Only one message is allowed.') }}");
    expect(await asked()).toMatchObject({
      code: 'model/bad-request',
      message: expect.stringContaining('refuses the conversation: Only one message is allowed.') as string,
    });
  });
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
