// Compares with PyTorch tiny models with random weights, whose graphs the trainer writes for the test.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Batch } from '../../../src/core/model/local/batch';
import { Chat } from '../../../src/core/model/local/chat';
import { openDecoder } from '../../../src/core/model/local/openDecoder';
import { readLocalFolder } from '../../../src/core/model/local/folder';
import { openGraph } from '../../../src/core/model/local/graph';
import { LocalModel, type LocalModelOptions } from '../../../src/core/model/local/model';
import type { Generation, SamplingSettings } from '../../../src/core/model/model';
import { isRunning } from '../../../src/core/trajectory/heartbeat';
import { holdInference } from '../../fixtures/held-model';
import { makeLocalModels, type Expected, type LocalModels } from '../../fixtures/local-model/make';
import { pythonSetupLimit } from '../../fixtures/real-server/python';
import { errorOf, question } from '../../unit/model/play';

let folder: string;
let expected: LocalModels['expected'];
let dialogues: readonly Expected[];
let chats: LocalModels['chats'];
const opened: LocalModel[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-local-'));
  ({ expected, chats } = await makeLocalModels(folder));
  dialogues = expected.llama!;
}, pythonSetupLimit);
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const model of opened.splice(0)) await model.close();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function open(name: string, options: Partial<LocalModelOptions> = {}): LocalModel {
  const model = new LocalModel({
    name: `local:${name}`,
    folder: path.join(folder, name),
    inference: path.resolve('dist/inference.js'),
    ...options,
  });
  opened.push(model);
  return model;
}

/** Opens a model whose process waits after some pieces of text until it is told to go on or killed. */
function openHeld(pieces = 1) {
  const { script, goOn } = holdInference(folder, pieces);
  const model = open('llama', { inference: script });
  let isKilled = false;
  /** Kills the process where it waits, the first time that this is called; the next process does not wait. */
  const killOnce = (): void => {
    if (isKilled) return;
    isKilled = true;
    process.kill(model.processId!, 'SIGKILL');
    goOn();
  };
  return { model, goOn, killOnce };
}

const greedy: SamplingSettings = { temperature: 0, maxTokens: 16 };
const sampled: SamplingSettings = { temperature: 1, maxTokens: 40, seed: 7 };
/** Settings for an answer that is long enough to be interrupted. */
const long: SamplingSettings = { ...sampled, maxTokens: 3000 };

/** The graphs of `tandem onnx` by family, then those that it wrote earlier and those of others. */
const KINDS = [
  { name: 'llama', family: 'llama' },
  { name: 'qwen2', family: 'qwen2' },
  { name: 'qwen3', family: 'qwen3' },
  { name: 'mistral', family: 'mistral' },
  { name: 'shared', family: 'llama' },
  { name: 'growing', family: 'llama' },
];

describe.each(KINDS)('the graph $name', ({ name, family }) => {
  it('writes what PyTorch writes, with the same log-probabilities, from the same prompt', async () => {
    const model = open(name);
    const turns = await Promise.all(
      expected[family]!.map(({ messages }) => model.generate(messages, greedy)),
    );
    for (const [index, { promptIds, ids, logprobs }] of expected[family]!.entries()) {
      const turn = turns[index]!;
      expect(turn.promptTokenIds).toEqual(promptIds);
      expect(turn.tokens.ids).toEqual(ids);
      for (const [at, logprob] of logprobs.entries())
        expect(Math.abs(turn.tokens.logprobs[at]! - logprob)).toBeLessThan(5e-4);
    }
  });

  it('writes the same in a batch as alone, and with another seed something else', async () => {
    const model = open(name);
    const alone = await model.generate(question, sampled);
    const others = dialogues.map(({ messages }, seed) => model.generate(messages, { ...sampled, seed }));
    const [again, another] = await Promise.all([
      model.generate(question, sampled),
      model.generate(question, { ...sampled, seed: 8 }),
      ...others,
    ]);
    expect(again.tokens.ids).toEqual(alone.tokens.ids);
    expect(another.tokens.ids).not.toEqual(alone.tokens.ids);
  });

  it('goes on with a dialogue as it would from the start', async () => {
    const dialogue = [...question];
    const model = open(name);
    for (const reply of ['The list is sorted.', 'Return 0.', 'It returns days.']) {
      const turn = await model.generate(dialogue, sampled);
      const fresh = await open(name).generate(dialogue, sampled);
      expect(turn.tokens.ids).toEqual(fresh.tokens.ids);
      dialogue.push({ role: 'assistant', content: turn.text }, { role: 'user', content: reply });
    }
  });
});

it('writes a short dialogue as before after several long ones', async () => {
  const model = open('llama');
  const before = await model.generate(question, sampled);
  const longer = { ...long, maxTokens: 600 };
  await Promise.all([1, 2, 3, 4, 5].map((seed) => model.generate(question, { ...longer, seed })));
  const after = await model.generate(question, sampled);
  expect(after.tokens.ids).toEqual(before.tokens.ids);
});

it.each(['llama3_1', 'qwen2_5', 'qwen3', 'gemma2', 'gemma3', 'mistral', 'phi3_5'])(
  'makes the same tokens of a conversation as transformers, by the chat template of %s',
  (family) => {
    const chat = new Chat(path.join(folder, 'chats', family));
    expect(chat.encode(dialogues[3]!.messages)).toEqual(chats[family]);
  },
);

it.each(['int8', 'int4'])('%s graphs play too, the same alone and in a batch', async (precision) => {
  const model = open(`llama/onnx/model_${precision}.onnx`);
  const [first, ...rest] = await Promise.all(
    Array.from({ length: 20 }, () => model.generate(question, sampled)),
  );
  expect(first?.tokens.ids).toHaveLength(40);
  for (const { tokens } of rest) expect(tokens.ids).toEqual(first?.tokens.ids);
  expect(await model.describe()).toMatchObject({ precision, provider: 'cpu', contextLength: 4096 });
});

it('a graph without an output that Tandem needs is refused by the name of the output', async () => {
  expect(await errorOf(open('incomplete').generate(question, greedy))).toMatchObject({
    code: 'model/foreign-folder',
    message: expect.stringContaining('new_key_values') as string,
  });
});

it('a turn that was cancelled leaves the others alone', async () => {
  const model = open('llama');
  const cancel = new AbortController();
  const turn = model.generate(question, long, { signal: cancel.signal, onText: () => cancel.abort() });
  const other = model.generate(question, sampled);
  expect(await errorOf(turn)).toMatchObject({ name: 'AbortError' });
  expect((await other).tokens.ids).toHaveLength(40);
  expect((await model.generate(question, sampled)).text).toBe((await other).text);
});

it('a turn of which the caller has enough ends with what it has, counted, and leaves the others alone', async () => {
  const { model, goOn } = openHeld();
  let told = '';
  const heard = Promise.withResolvers<undefined>();
  const turn = model.generate(question, long, {
    onText: (piece) => void (told += piece),
    enough: () => {
      heard.resolve(undefined);
      return true;
    },
  });
  const other = model.generate(question, sampled);
  await heard.promise;
  goOn();
  const { text, finishReason, tokens, usage } = await turn;
  expect(finishReason).toBe('other');
  expect(text).toBe(told);
  expect(tokens.ids.length).toBeLessThan(long.maxTokens);
  expect(tokens.logprobs).toHaveLength(tokens.ids.length);
  expect(usage.completionTokens).toBe(tokens.ids.length);
  expect((await other).tokens.ids).toHaveLength(40);
  expect((await model.generate(question, sampled)).text).toBe((await other).text);
});

describe('when its process is killed', () => {
  it('the turn is written again, and is the same', async () => {
    const undisturbed = await open('llama').generate(question, { ...sampled, maxTokens: 400 });
    const { model, killOnce } = openHeld();
    const told: string[] = [];
    const turn = await model.generate(
      question,
      { ...sampled, maxTokens: 400 },
      { onText: killOnce, onRestart: (why) => told.push(why) },
    );
    expect(turn.text).toBe(undisturbed.text);
    expect(turn.timing.attempts).toBe(2);
    expect(told).toEqual([expect.stringMatching(/ended \(SIGKILL\)\. It is started again\.$/)]);
    expect(model.counts).toMatchObject({ requests: 2, retries: 1 });
  });

  it('a second time in the same turn, the turn is given up with one sentence and the next one plays', async () => {
    const { model, goOn } = openHeld();
    const killed: number[] = [];
    const onText = (): void => {
      killed.push(model.processId!);
      process.kill(model.processId!, 'SIGKILL');
    };
    expect(await errorOf(model.generate(question, long, { onText }))).toMatchObject({
      code: 'model/inference-ended',
      message: expect.stringContaining('It had ended in the same turn before.') as string,
    });
    expect(new Set(killed).size).toBe(2);
    goOn();
    expect((await model.generate(question, sampled)).tokens.ids).toHaveLength(40);
  });
});

it('a closed model has no process, and plays again when it is asked', async () => {
  const model = open('llama');
  const before = await model.generate(question, sampled);
  const { processId } = model;
  await model.close();
  expect(isRunning(processId!)).toBe(false);
  expect((await model.generate(question, sampled)).tokens).toEqual(before.tokens);
});

it('a model that is closed while it loads says so to who waits for it', async () => {
  const model = open('llama');
  const described = errorOf(model.describe());
  await model.close();
  expect(await described).toMatchObject({
    code: 'model/inference-ended',
    message: expect.stringContaining('was closed while it loaded') as string,
  });
});

it('nothing of ONNX Runtime is left in the home folder: no identity, no record of use to be sent', async () => {
  const home = path.join(folder, 'home');
  await mkdir(home);
  for (const name of ['HOME', 'USERPROFILE', 'XDG_CACHE_HOME', 'LOCALAPPDATA']) vi.stubEnv(name, home);
  await open('llama').generate(question, sampled);
  expect(await readdir(home)).toEqual([]);
});

describe('limits', () => {
  it('a dialogue longer than the context is refused with its length', async () => {
    const messages = [{ role: 'user' as const, content: 'the empty list '.repeat(2000) }];
    expect(await errorOf(open('llama').generate(messages, sampled))).toMatchObject({
      code: 'model/too-long',
      message: expect.stringMatching(/has \d{4,} tokens and the model takes 4096/) as string,
    });
  });

  it('a dialogue that needs more memory than is allowed is refused, a shorter one plays', async () => {
    const model = open('llama', { memoryBytes: 2_900_000 });
    expect(await errorOf(model.generate(question, long))).toMatchObject({ code: 'model/too-large' });
    expect((await model.generate(question, sampled)).tokens.ids).toHaveLength(40);
  });

  it('with memory for a few dialogues at once, the others wait for their turn', async () => {
    const plenty = await open('llama').generate(question, sampled);
    const model = open('llama', { memoryBytes: 2_900_000 });
    const turns = await Promise.all(dialogues.map(() => model.generate(question, sampled)));
    expect(new Set(turns.map(({ text }: Generation) => text))).toEqual(new Set([plenty.text]));
  });

  it.each(['llama', 'shared', 'growing'])(
    'long dialogues that wait for a reply and many short ones stay within the memory, %s',
    async (name) => {
      const memoryBytes = 32 * 2 ** 20;
      const { graph: file, bytes, contextLength } = readLocalFolder(path.join(folder, name));
      const graph = await openGraph(file, bytes);
      const decoder = await openDecoder(graph, bytes, memoryBytes);
      const batch = new Batch(
        decoder,
        { ends: new Set(), decode: (ids) => 'a'.repeat(ids.length) },
        { contextLength, memoryBytes },
      );
      let most = 0;
      const write = (length: number, seed: number): Promise<unknown> =>
        new Promise((onDone, onFailed) => {
          const promptIds = Array.from({ length }, (_, at) => (seed + 7 * at) % graph.vocabulary);
          const onText = (): void => void (most = Math.max(most, decoder.held));
          batch.start({
            promptIds,
            sampling: { ...sampled, maxTokens: 20 },
            alternatives: 0,
            onText,
            onDone,
            onFailed,
          });
        });
      await Promise.all(Array.from({ length: 6 }, (_, seed) => write(3000, seed)));
      await Promise.all(Array.from({ length: 40 }, (_, seed) => write(60 + 2 * seed, 100 + seed)));
      await graph.session.release();
      expect(most).toBeGreaterThan(memoryBytes / 8);
      expect(most).toBeLessThan(memoryBytes);
    },
  );
});
