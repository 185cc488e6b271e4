/**
 * Compares Tandem's own runner with llama.cpp on a real language model, SmolLM2-135M-Instruct: int8 against Q8_0.
 *
 * Tokens per second of one dialogue and of eight at once without their prompts, the first token after a prompt of some
 * 1,000 tokens that neither has seen, and the memory of the process that computes. Both have as many threads; they take
 * turns, and the best of each counts, because other work on the machine disturbs one as it does the other.
 *
 *   npm run build && TANDEM_REAL_MODEL=FOLDER node test/bench/run.mjs real-model [--threads N] [--rounds N] [--json]
 *
 * `npm test` makes the folder and says where it is. It needs TANDEM_TRAINER_PYTHON, which turns the model into Q8_0.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';

import { LocalModel } from '../../src/core/model/local/model';
import type { ChatMessage, Model } from '../../src/core/model/model';
import { OpenAiModel } from '../../src/core/model/openai';
import { realModel } from '../fixtures/real-model/folder';
import { serveModel } from '../fixtures/real-server/server';

const DIALOGUES = 8;
const TOKENS = 96;

const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: String(availableParallelism()) },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});

interface Figures {
  one: number;
  eight: number;
  firstTokenMs: number;
  memoryMb: number;
}

/** Makes a prompt that shares only its first words with others. @param words a word is one to two tokens */
function request(number: number, words: number): readonly ChatMessage[] {
  const each = Array.from({ length: words }, (_, index) =>
    ((number * 7919 + index * 104729) % 9973).toString(),
  );
  return [{ role: 'user', content: `Task ${number}. Add up these prices: ${each.join(' ')}` }];
}

let asked = 0;

/** Measures tokens per second of so many dialogues at once, from when all have begun until the last one ends. */
async function speed(model: Model, dialogues: number): Promise<number> {
  const turns = await Promise.all(
    Array.from({ length: dialogues }, () =>
      model.generate(
        request(asked++, 4),
        { temperature: 1, maxTokens: TOKENS, seed: asked },
        { onText: () => undefined },
      ),
    ),
  );
  const tokens = turns.reduce((sum, { usage }) => sum + (usage?.completionTokens ?? 0) - 1, 0);
  const begun = Math.max(...turns.map(({ timing }) => timing.firstTextMs ?? 0));
  const ended = Math.max(...turns.map(({ timing }) => timing.totalMs));
  return (1000 * tokens) / (ended - begun);
}

async function firstToken(model: Model): Promise<number> {
  const { timing, usage } = await model.generate(
    request(asked++, 230),
    { temperature: 1, maxTokens: 2, seed: 1 },
    { onText: () => undefined },
  );
  console.error(`${usage?.promptTokens} tokens of prompt`);
  return timing.firstTextMs ?? timing.totalMs;
}

/** Returns the peak memory of a process in MB. @param what part of its command line */
async function peakMemory(what: string): Promise<number> {
  const { stdout } = await promisify(execFile)('pgrep', ['-f', what]);
  const peaks = await Promise.all(
    stdout
      .trim()
      .split('\n')
      .map(async (pid) => {
        const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
        return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
      }),
  );
  return Math.max(...peaks);
}

async function measure(model: Model, process: string, best: Figures | undefined): Promise<Figures> {
  const [one, eight, first] = [await speed(model, 1), await speed(model, DIALOGUES), await firstToken(model)];
  return {
    one: Math.max(one, best?.one ?? 0),
    eight: Math.max(eight, best?.eight ?? 0),
    firstTokenMs: Math.min(first, best?.firstTokenMs ?? Infinity),
    memoryMb: await peakMemory(process),
  };
}

const { folder } = realModel();
const scratch = await mkdtemp(path.join(tmpdir(), 'tandem-bench-real-'));
try {
  const file = path.join(scratch, 'q8_0.gguf');
  const python = process.env.TANDEM_TRAINER_PYTHON ?? 'python3';
  await promisify(execFile)(
    python,
    ['-m', 'tandem_trainer', 'convert', folder, file, '--precision', 'q8_0'],
    {
      env: { ...process.env, PYTHONPATH: path.resolve('trainer') },
    },
  );
  const server = await serveModel(file, 'smollm2', {
    threads: Number(values.threads),
    dialogues: DIALOGUES,
    context: 4096,
  });
  const there = new OpenAiModel({ model: 'smollm2', baseUrl: server.url, apiKey: server.key });
  const here = new LocalModel({
    name: 'int8',
    folder: path.join(folder, 'onnx', 'model_int8.onnx'),
    inference: path.resolve('dist/inference.js'),
  });
  let [ours, theirs]: (Figures | undefined)[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    ours = await measure(here, 'dist/inference.js', ours);
    theirs = await measure(there, file, theirs);
  }
  await here.close();
  await server.close();
  const rows = { 'Tandem, int8': ours!, 'llama.cpp, Q8_0': theirs! };
  if (values.json) console.log(JSON.stringify({ rows, threads: Number(values.threads) }));
  else
    console.table(
      Object.fromEntries(
        Object.entries(rows).map(([name, { one, eight, firstTokenMs, memoryMb }]) => [
          name,
          {
            'tokens/s, one dialogue': one.toFixed(1),
            'tokens/s, eight': eight.toFixed(1),
            'first token after 1,000, s': (firstTokenMs / 1000).toFixed(2),
            'memory, MB': Math.round(memoryMb),
          },
        ]),
      ),
    );
} finally {
  await rm(scratch, { recursive: true });
}
