/**
 * Compares Tandem's own runner with llama.cpp on a real language model, SmolLM2-135M-Instruct: int8 against Q8_0.
 *
 * Tokens per second of one dialogue and of eight at once without their prompts, after a few words and after some 1,150
 * tokens, the first token after as many that neither has seen, and the peak memory of the process that computes. Both
 * have as many threads and take turns, the short cases after the long ones of the round before. Every round is printed;
 * what counts is the worst ratio.
 *
 *   npm run build && TANDEM_REAL_MODEL=FOLDER node test/bench/run.mjs real-model [--threads N] [--rounds N] [--json]
 *
 * `npm test` makes the folder and says where it is. `--folder` takes another model folder with an int8 graph instead. It
 * needs TANDEM_TRAINER_PYTHON, which turns the model into Q8_0.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
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
    folder: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

/** What each case must reach, as ours over theirs: tokens per second at least, times and memory at most. */
const CASES = {
  one: { title: 'one dialogue, tokens/s', least: 1 },
  eight: { title: 'eight at once, tokens/s', least: 1.5 },
  firstToken: { title: 'first token of some 1,150, s', most: 0.7 },
  oneLong: { title: 'one after 1,150 tokens, tokens/s', least: 1.3 },
  eightLong: { title: 'eight after 1,150 tokens, tokens/s', least: 1.5 },
  memory: { title: 'peak memory, MB', most: 1 },
} as const satisfies Record<string, { title: string; least?: number; most?: number }>;

type Figures = Record<keyof typeof CASES, number>;

/** A word is one to two tokens: the prompts of the long cases. */
const LONG = 230;

/** Makes a prompt that shares only its first words with others. @param words a word is one to two tokens */
function request(number: number, words: number): readonly ChatMessage[] {
  const each = Array.from({ length: words }, (_, index) =>
    ((number * 7919 + index * 104729) % 9973).toString(),
  );
  return [{ role: 'user', content: `Task ${number}. Add up these prices: ${each.join(' ')}` }];
}

let asked = 0;

/** Measures tokens per second of so many dialogues at once, from when all have begun until the last one ends. */
async function speed(model: Model, dialogues: number, words = 4): Promise<number> {
  const turns = await Promise.all(
    Array.from({ length: dialogues }, () =>
      model.generate(
        request(asked++, words),
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
    request(asked++, LONG),
    { temperature: 1, maxTokens: 2, seed: 1 },
    { onText: () => undefined },
  );
  console.error(`${usage?.promptTokens} tokens of prompt`);
  return (timing.firstTextMs ?? timing.totalMs) / 1000;
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

async function measure(model: Model, process: string): Promise<Figures> {
  return {
    one: await speed(model, 1),
    eight: await speed(model, DIALOGUES),
    firstToken: await firstToken(model),
    oneLong: await speed(model, 1, LONG),
    eightLong: await speed(model, DIALOGUES, LONG),
    memory: await peakMemory(process),
  };
}

function report(ours: readonly Figures[], theirs: readonly Figures[]): Record<string, object> {
  const shown = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
  return Object.fromEntries(
    Object.entries(CASES).map(([name, target]) => {
      const key = name as keyof Figures;
      const ratios = ours.map((round, index) => round[key] / theirs[index]![key]);
      const worst = 'least' in target ? Math.min(...ratios) : Math.max(...ratios);
      const met = 'least' in target ? worst >= target.least : worst <= target.most;
      return [
        target.title,
        {
          'Tandem, int8': ours.map((round) => shown(round[key])).join(', '),
          'llama.cpp, Q8_0': theirs.map((round) => shown(round[key])).join(', '),
          'worst ratio': worst.toFixed(2),
          wanted: 'least' in target ? `≥ ${target.least}` : `≤ ${target.most}`,
          met,
        },
      ];
    }),
  );
}

const folder = values.folder ?? realModel().folder;
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
  const ours: Figures[] = [];
  const theirs: Figures[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    ours.push(await measure(here, 'dist/inference.js'));
    theirs.push(await measure(there, file));
  }
  await here.close();
  await server.close();
  const machine = `${cpus()[0]?.model}, ${values.threads} threads, load ${loadavg()[0]?.toFixed(1)}`;
  if (values.json) console.log(JSON.stringify({ ours, theirs, machine }));
  else {
    console.log(machine);
    console.table(report(ours, theirs));
  }
} finally {
  await rm(scratch, { recursive: true });
}
