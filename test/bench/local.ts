/**
 * Measures local models: the speed of one dialogue and of many, and the fraction of memory bandwidth of a large model.
 *
 * The starter model, int8 and fp32: tokens per second of one dialogue and of 64 at once, and the first token once warm.
 * A Llama of 95 million random weights in fp32, made for the run: tokens per second of one dialogue times bytes of
 * weights, against what as many threads read from memory in the same run (`Buffer.equals` on two large buffers).
 *
 *   npm run build && node test/bench/run.mjs local [--json] [--no-large]
 *
 * The large model needs TANDEM_TRAINER_PYTHON, 2 GB of disk and 3 GB of memory.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { LocalModel } from '../../src/core/model/local/model';
import type { ChatMessage } from '../../src/core/model/model';
import { python } from '../fixtures/trainer';

const DIALOGUES = 64;
const ROUNDS = 4;

interface Speed {
  readonly model: string;
  readonly oneDialogue: number;
  readonly manyDialogues: number;
  readonly firstTokenMs: number;
}

const request = (number: number): readonly ChatMessage[] => [
  {
    role: 'user',
    content: `I need a function that works out the price of ${number} tickets with a discount.`,
  },
];

function open(folder: string): LocalModel {
  return new LocalModel({ name: 'bench', folder, inference: path.resolve('dist/inference.js') });
}

/** Measures tokens per second of so many dialogues at once, each sampled with its own seed. */
async function tokensPerSecond(model: LocalModel, dialogues: number, maxTokens: number): Promise<number> {
  let tokens = 0;
  const began = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    const turns = await Promise.all(
      Array.from({ length: dialogues }, (_, index) =>
        model.generate(request(index), { temperature: 1, maxTokens, seed: round * dialogues + index }),
      ),
    );
    tokens += turns.reduce((sum, { usage }) => sum + usage.completionTokens, 0);
  }
  return (1000 * tokens) / (performance.now() - began);
}

/** Measures the median milliseconds from the call to the first text. */
async function firstToken(model: LocalModel): Promise<number> {
  const times: number[] = [];
  for (let seed = 0; seed < 21; seed++) {
    const { timing } = await model.generate(
      request(1000 + seed),
      { temperature: 1, maxTokens: 8, seed },
      { onText: () => undefined },
    );
    if (timing.firstTextMs !== undefined) times.push(timing.firstTextMs);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!;
}

async function speedOf(graph: string): Promise<Speed> {
  const model = open(path.resolve('media/starter/onnx', graph));
  try {
    await tokensPerSecond(model, DIALOGUES, 32);
    return {
      model: `starter, ${(await model.describe()).precision}`,
      oneDialogue: await tokensPerSecond(model, 1, 64),
      manyDialogues: await tokensPerSecond(model, DIALOGUES, 64),
      firstTokenMs: await firstToken(model),
    };
  } finally {
    await model.close();
  }
}

/** Measures the bytes per second that all cores together read from memory. */
async function memoryBandwidth(): Promise<number> {
  const bytes = 2 ** 28;
  const rounds = 4;
  const code = `
    const { parentPort } = require('node:worker_threads');
    const [one, other] = [1, 1].map((value) => Buffer.alloc(${bytes}, value));
    parentPort.once('message', () => {
      for (let round = 0; round < ${rounds}; round++) one.equals(other);
      parentPort.postMessage('read');
    });
    parentPort.postMessage('ready');`;
  const workers = Array.from({ length: availableParallelism() }, () => new Worker(code, { eval: true }));
  const all = (): Promise<unknown> =>
    Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))));
  await all();
  const read = all();
  const began = performance.now();
  for (const worker of workers) worker.postMessage('begin');
  await read;
  const seconds = (performance.now() - began) / 1000;
  for (const worker of workers) await worker.terminate();
  return (workers.length * rounds * 2 * bytes) / seconds;
}

const makeLarge = `
import sys
from pathlib import Path
from models import tiny_model
from tandem_trainer.export.onnx.decoder import write_player
from tandem_trainer.export.onnx.shape import read_shape
folder = tiny_model(
    Path(sys.argv[1]), hidden_size=768, intermediate_size=2048, num_hidden_layers=12, num_attention_heads=12,
    num_key_value_heads=4, vocab_size=16384, initializer_range=0.02, tie_word_embeddings=True,
)
(folder / "onnx").mkdir()
write_player(folder, read_shape(folder), folder / "onnx" / "model.onnx", "fp32")
`;

interface Share {
  readonly bandwidth: number;
  readonly tokensPerSecond: number;
  readonly weightBytes: number;
  readonly share: number;
}

/** Measures tokens per second of one dialogue without its prompt, by a long and a short turn. */
async function decodingSpeed(model: LocalModel): Promise<number> {
  const [short, long] = [8, 72];
  const seconds = async (maxTokens: number): Promise<number> => {
    const { usage, timing } = await model.generate(request(1), { temperature: 1, maxTokens, seed: 1 });
    if (usage.completionTokens !== maxTokens) throw new Error('The turn ended early.');
    return timing.totalMs / 1000;
  };
  const before = await seconds(short);
  return (long - short) / ((await seconds(long)) - before);
}

/** Measures the fraction of the memory bandwidth with which one dialogue reads the weights of a large model. */
async function shareOfBandwidth(): Promise<Share> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-bench-local-'));
  try {
    await python(makeLarge, folder);
    const model = open(folder);
    try {
      const { bytes: weightBytes } = await model.describe();
      let [bandwidth, speed] = [0, 0];
      // Both are measured in turns and the best counts, so that other work on the machine affects them equally.
      for (let round = 0; round < 6; round++) {
        bandwidth = Math.max(bandwidth, await memoryBandwidth());
        speed = Math.max(speed, await decodingSpeed(model));
      }
      return { bandwidth, tokensPerSecond: speed, weightBytes, share: (speed * weightBytes) / bandwidth };
    } finally {
      await model.close();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function main(): Promise<void> {
  const rows = [await speedOf('model_int8.onnx'), await speedOf('model.onnx')];
  const large = process.argv.includes('--no-large') ? undefined : await shareOfBandwidth();
  if (process.argv.includes('--json')) {
    console.log(JSON.stringify({ rows, summary: { dialogues: DIALOGUES, large } }));
    return;
  }
  console.table(
    rows.map(({ model, oneDialogue, manyDialogues, firstTokenMs }) => ({
      model,
      'tokens/s, one dialogue': Math.round(oneDialogue),
      [`tokens/s, ${DIALOGUES} dialogues`]: Math.round(manyDialogues),
      'first token, ms': firstTokenMs.toFixed(1),
    })),
  );
  if (large !== undefined)
    console.log(
      `A model of ${(large.weightBytes / 1e6).toFixed(0)} MB writes ${large.tokensPerSecond.toFixed(1)} tokens/s: ` +
        `${(100 * large.share).toFixed(0)} % of the ${(large.bandwidth / 1e9).toFixed(1)} GB/s that the cores read.`,
    );
}

await main();
