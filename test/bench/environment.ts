/**
 * Measures how many steps a second `tandem serve` answers with 256 open episodes and the rules as the simulator, each
 * client waiting for one answer before it sends the next message. An episode is nine questions and a graded answer, a
 * right one that no episode gave before; with `--same` one of those that were given before, which is not run again.
 * Beside it, in the same run: the same dialogues played in one process, without a server between. On Linux also the
 * processor's time that a step takes of the server with its graders, which other work on the machine changes little.
 *
 *   npm run build && node test/bench/run.mjs environment [--seconds 20] [--same]
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { beginEpisode } from '../../src/core/environment/episode';
import type { AgentAction } from '../../src/core/environment/messages';
import { createGrader } from '../../src/core/grading/grader';
import { loadTasks } from '../../src/core/task/pack';
import { programOf } from '../../src/core/task/task';
import { starterPack } from '../fixtures/dialogue';
import { environmentPlan, RawClient, serveEnvironment } from '../fixtures/environment';

const OPEN = 256;
const QUESTIONS = 9;
const question = {
  kind: 'ask',
  message: 'Is the limit inclusive, and what is the surcharge?',
  metadata: {},
} as const;

const place = process.argv.indexOf('--seconds');
const SECONDS = place === -1 ? 20 : Number(process.argv[place + 1]);

const isSame = process.argv.includes('--same');
let answers = 0;

/** Returns the reference as an answer that the grader does not know yet. */
const answerOf = (reference: string): string => (isSame ? reference : `${reference}\n# ${answers++}`);

type Step = (action: AgentAction) => Promise<unknown>;

/** Plays episodes in a row until the time is over; returns the number of steps that were answered. */
async function playOn(begin: () => Promise<{ step: Step; code: string }>, until: number): Promise<number> {
  let steps = 0;
  while (performance.now() < until) {
    const { step, code } = await begin();
    for (let turn = 0; turn < QUESTIONS; turn++, steps++) await step({ ...question });
    await step({ kind: 'answer', message: code, metadata: {} });
    steps++;
  }
  return steps;
}

/** The clients run in a process of their own, as a trainer does, and take a core from the server when there are two. */
async function clients(url: string): Promise<void> {
  const { tasks } = await loadTasks(starterPack);
  const references = new Map(tasks.map(({ id, reference }) => [id, reference]));
  const connected = await Promise.all(Array.from({ length: OPEN }, () => RawClient.connect(url)));
  const begin = (client: RawClient) => async () => {
    const { data } = await client.reset();
    const code = answerOf(references.get(data.metadata!.task)!);
    return { step: (action: object) => client.exchange({ type: 'step', data: action }), code };
  };
  const before = await Promise.all(connected.map((client) => playOn(begin(client), performance.now() + 1)));
  const begun = performance.now();
  const steps = await Promise.all(connected.map((client) => playOn(begin(client), begun + SECONDS * 1000)));
  const { user, system } = process.cpuUsage();
  const all = [...before, ...steps].reduce((sum, some) => sum + some, 0);
  const measured: Measured = { rate: rate(steps, begun), steps: all, milliseconds: (user + system) / 1000 };
  process.send!(measured);
  for (const { socket } of connected) socket.close();
}

const rate = (steps: readonly number[], begun: number): number =>
  (steps.reduce((sum, some) => sum + some, 0) / (performance.now() - begun)) * 1000;

/** What the clients say at their end: steps per second, the steps of all their time, and their own processor time. */
interface Measured {
  readonly rate: number;
  readonly steps: number;
  readonly milliseconds: number;
}

/** Returns the processor time in milliseconds of all processes that were started here and have ended; Linux only. */
async function spentByChildren(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => '');
  const [user = NaN, system = NaN] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(13, 15)
    .map(Number);
  return (user + system) * 10;
}

async function served(args: readonly string[]): Promise<{ rate: number; cost: number }> {
  const before = await spentByChildren();
  const server = await serveEnvironment(args);
  const child: ChildProcess = fork(process.argv[1]!, ['--clients', server.url, ...process.argv.slice(2)]);
  const [measured] = (await once(child, 'message')) as [Measured];
  await once(child, 'exit');
  await server.stop();
  const spent = (await spentByChildren()) - before - measured.milliseconds;
  return { rate: measured.rate, cost: spent / measured.steps };
}

/** Plays the same episodes without a server and without a log. */
async function direct(): Promise<number> {
  const tasks = (await loadTasks(starterPack)).tasks.map(programOf);
  const grader = await createGrader({ assets: path.resolve('dist'), workers: 2 });
  const plan = await environmentPlan(tasks, grader);
  const references = new Map(tasks.map(({ id, reference }) => [id, reference]));
  const begin = () => {
    const episode = beginEpisode(plan, {});
    return Promise.resolve({
      step: (action: Parameters<Step>[0]) => episode.step(action),
      code: answerOf(references.get(episode.state.task!)!),
    });
  };
  const all = (until: number) => Promise.all(Array.from({ length: OPEN }, () => playOn(begin, until)));
  await all(performance.now() + 1);
  const begun = performance.now();
  const steps = await all(begun + SECONDS * 1000);
  await grader.close();
  return rate(steps, begun);
}

async function main(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-bench-environment-'));
  const load = loadavg()[0]!.toFixed(1);
  for (const [what, args] of [
    ['no log', []],
    ['with the log on the disk', ['--data', path.join(folder, '.tandem')]],
  ] as const) {
    const { rate: steps, cost } = await served(args);
    console.log(`${what}: ${Math.round(steps)} steps/s; ${cost.toFixed(2)} ms of a core for each step`);
  }
  console.log(`without a server, no log: ${Math.round(await direct())} steps/s`);
  console.log(`load before: ${load}`);
  await rm(folder, { recursive: true, force: true });
}

const [role, url] = process.argv.slice(2);
void (role === '--clients' ? clients(url!) : main());
