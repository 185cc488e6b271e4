/**
 * Measures a collection with 512 dialogues in flight against a server with heavy-tailed (log-normal) latencies.
 * Baseline in the same run: the usual loop, in which all dialogues wait for the slowest before the next turn.
 *
 *   npm run build && node test/bench/run.mjs collection [--json]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { collect, type PackTask } from '../../src/core/dialogue/collect';
import { Dialogue } from '../../src/core/dialogue/dialogue';
import { Prompts } from '../../src/core/dialogue/prompts';
import { colBenchProtocol } from '../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../src/core/dialogue/simulator';
import { createGrader, type Grader } from '../../src/core/grading/grader';
import { OpenAiModel } from '../../src/core/model/openai';
import { loadTasks } from '../../src/core/task/pack';
import { TrajectoryLog } from '../../src/core/trajectory/log';
import { startChatServer } from '../fixtures/chat-server';
import { answer } from '../fixtures/chat-server-replies';

const IN_FLIGHT = 512;
const DIALOGUES = 8 * IN_FLIGHT;
const BARRIER_DIALOGUES = IN_FLIGHT;
const TURNS = 3;
/** Latency in milliseconds: median 2 s, mean 2.75 s, one in 512 above 20 s. */
const MEDIAN = 2000;
const SIGMA = 0.8;

/** A request with its start and end in milliseconds of the server's clock. */
interface Served {
  readonly arrived: number;
  readonly latency: number;
  readonly turn: number;
}

async function serve(): Promise<void> {
  const served: Served[] = [];
  let state = 12345;
  const uniform = (): number => ((state = (state * 48271) % 2147483647), state / 2147483647);
  const normal = (): number => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  const server = await startChatServer({
    reply: ({ body }) => {
      const latency = MEDIAN * Math.exp(SIGMA * normal());
      const turn = (body.messages.length + 1) / 2;
      served.push({ arrived: performance.now(), latency, turn });
      const code = 'def nothing(*rest):\n    return 0';
      const text =
        turn < TURNS
          ? 'Hm.\nOUTPUT:\nWhat is the limit?'
          : `OUTPUT:\nI WANT TO ANSWER:\n\`\`\`python\n${code}\n\`\`\``;
      return answer(text, { firstDelay: latency, pieces: [text] });
    },
  });
  process.on('message', () => process.send!(served.splice(0)));
  process.on('disconnect', () => process.exit(0));
  process.send!(server.url);
}

interface Parts {
  readonly agent: OpenAiModel;
  readonly grader: Grader;
  readonly prompts: Prompts;
  readonly tasks: readonly PackTask[];
  readonly folder: string;
}

const common = { protocol: colBenchProtocol, sampling: { temperature: 1, maxTokens: 200 }, seed: 0 } as const;

/** Returns the seconds of Tandem's collection. */
async function ours(parts: Parts): Promise<number> {
  const log = await TrajectoryLog.open(path.join(parts.folder, 'ours'));
  const begun = performance.now();
  const result = await collect({
    ...common,
    ...parts,
    log,
    simulator: new RulesSimulator(),
    rollouts: Math.ceil(DIALOGUES / parts.tasks.length),
    concurrency: IN_FLIGHT,
    mode: 'fixed',
    collection: 'bench',
  });
  if (result.failed > 0) throw new Error(`${result.failed} dialogues failed: ${result.failures[0]!.message}`);
  const seconds = (performance.now() - begun) / 1000;
  await log.close();
  return (seconds * DIALOGUES) / result.total;
}

/** Returns the seconds of the usual loop: every dialogue of a batch takes its turn, then all go on together. */
async function barrier({ agent, grader, prompts, tasks, folder }: Parts): Promise<number> {
  const log = await TrajectoryLog.open(path.join(folder, 'barrier'));
  const begun = performance.now();
  const collaborator = { kind: 'rules', name: 'rules' } as const;
  const parts = { ...common, log, agent, prompts, collaborator, simulator: new RulesSimulator() };
  const dialogues = await Promise.all(
    Array.from({ length: BARRIER_DIALOGUES }, (_, i) =>
      Dialogue.start({ ...parts, ...tasks[i % tasks.length]! }),
    ),
  );
  while (dialogues.some(({ next }) => next !== 'nobody')) {
    await Promise.all(dialogues.filter(({ next }) => next === 'agent').map((one) => one.agentTurn()));
    await Promise.all(
      dialogues.filter(({ next }) => next === 'collaborator').map((one) => one.simulatorReply()),
    );
  }
  await Promise.all(dialogues.map((one) => one.grade(grader, 'fixed')));
  const seconds = (performance.now() - begun) / 1000;
  await log.close();
  return seconds;
}

/**
 * Returns the mean number of concurrent requests as a fraction of 512, from the time when all places are taken until
 * the last dialogue has begun.
 */
function utilization(served: readonly Served[]): number {
  const start = served[IN_FLIGHT - 1]!.arrived;
  const end = Math.max(...served.filter(({ turn }) => turn === 1).map(({ arrived }) => arrived));
  const busy = served.map(
    ({ arrived, latency }) => Math.min(end, arrived + latency) - Math.max(start, arrived),
  );
  return busy.reduce((sum, ms) => sum + Math.max(0, ms), 0) / ((end - start) * IN_FLIGHT);
}

async function requestsOf(server: ChildProcess): Promise<Served[]> {
  server.send('requests');
  return ((await once(server, 'message')) as [Served[]])[0];
}

async function main(): Promise<void> {
  const server = fork(process.argv[1]!, ['--serve'], { serialization: 'advanced' });
  const [url] = (await once(server, 'message')) as [string];
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-bench-data-'));
  const assets = path.resolve('dist');
  const grader = await createGrader({
    assets,
    workers: 1,
    cache: { folder: path.join(folder, 'references'), onNotice: console.error },
  });
  try {
    const { tasks } = await loadTasks(path.resolve('samples/workspace/written-by-hand.jsonl'));
    const parts: Parts = {
      agent: new OpenAiModel({ model: 'bench', baseUrl: url }),
      grader,
      prompts: await Prompts.load(path.join(assets, 'prompts')),
      tasks: tasks.map((task) => ({ task })),
      folder,
    };
    const seconds = await ours(parts);
    const used = utilization(await requestsOf(server));
    const barrierSeconds = await barrier(parts);
    report({
      inFlight: IN_FLIGHT,
      dialogues: DIALOGUES,
      ofServerLimit: used,
      dialoguesPerSecond: DIALOGUES / seconds,
      barrierDialoguesPerSecond: BARRIER_DIALOGUES / barrierSeconds,
      timesBarrier: DIALOGUES / seconds / (BARRIER_DIALOGUES / barrierSeconds),
    });
  } finally {
    await grader.close();
    server.disconnect();
    await rm(folder, { recursive: true, force: true });
  }
}

function report(figures: Record<string, number>): void {
  if (process.argv.includes('--json')) console.log(JSON.stringify(figures));
  else
    for (const [name, value] of Object.entries(figures))
      console.log(`${name.padEnd(26)} ${value.toPrecision(4)}`);
}

void (process.argv.includes('--serve') ? serve() : main());
