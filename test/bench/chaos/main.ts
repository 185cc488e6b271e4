/**
 * Runs everything at once over one data folder and one folder of runs: two `tandem collect` with the starter model that
 * want the same collection, one against a model server, `tandem grade --out` and a real training. All of them and their
 * processes are killed by SIGKILL at random moments and restarted.
 * Then the log is checked by `tandem check`, and by an independent reader for all data that was acknowledged or seen
 * before. Finally everything is completed without kills.
 *
 *   npm run build && TANDEM_TRAINER_PYTHON=… node test/bench/run.mjs chaos [--minutes 1] [--seed 1] [--keep]
 *     [collect] [server] [grade] [train]
 *
 * The seed determines the kills, but the machine's load shifts them, so the same seed repeats a fault in most runs, not
 * in all. `--keep` keeps the folder, and so does a violation.
 */
import { build } from 'esbuild';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mulberry32 } from '../../../src/core/random';
import { marked } from '../../fixtures/left-behind';
import { collectLog } from '../../fixtures/trainer';
import { Acknowledged, collection, finish, learnName, type Collection } from './collecting';
import { Findings } from './findings';
import { Grading } from './grading';
import { readLog } from './reading';
import { Training, TRAINER } from './training';
import { kill, Victim, type Place, type VictimPlan } from './victim';

const GRACE_MS = 10_000;
const KINDS = ['collect', 'server', 'grade', 'train'];

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const kinds = new Set(positionals.length > 0 ? positionals : KINDS);

const mark = await mkdtemp(path.join(tmpdir(), 'tandem-chaos-'));
const data = path.join(mark, 'workspace', '.tandem');
await mkdir(path.dirname(data));
const findings = new Findings();
const place: Place = { mark, findings };
const acknowledged = new Acknowledged(findings);

let drawn = Number(values.seed) * 1000;
const victimOf = (plan: VictimPlan): Promise<Victim> => Victim.of(plan, place, mulberry32(drawn++));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Expects `tandem check` to find the log whole, or torn by a killed write, and to keep all data in a repair. */
async function check(checker: Victim): Promise<void> {
  const { code, stdout, stderr } = await checker.undisturbed(['check', data, '--json']);
  const { rows = [], summary = {} } = JSON.parse(stdout || '{}') as {
    rows?: { file: string; line: number; reason: string }[];
    summary?: { damaged?: unknown[]; remarks?: string[]; episodes?: number };
  };
  const { damaged = [], remarks = [], episodes } = summary;
  const others = rows.filter(({ reason }) => !reason.startsWith('The last line is torn'));
  if (episodes === undefined || others.length + damaged.length + remarks.length > 0)
    findings.violation('check', `code ${code}: ${JSON.stringify({ others, damaged, remarks })} ${stderr}`);
  console.log(`tandem check: ${episodes} dialogues, ${rows.length} torn ends, code ${code}`);
  acknowledged.expectAll(await readLog(data));
  if (rows.length === 0) return;
  const repaired = await checker.undisturbed(['check', data, '--repair']);
  if (repaired.code !== 0)
    findings.violation('check', `--repair ended with ${repaired.code}: ${repaired.stderr}`);
  acknowledged.expectAll(await readLog(`${data}-repaired`));
  await rm(`${data}-repaired`, { recursive: true });
}

/** Counts leftover files by the ends of their names. */
async function rests(): Promise<string> {
  const names = await readdir(data, { recursive: true });
  const counts = ['.unfinished', '.owner'].map(
    (end) => `${names.filter((name) => name.endsWith(end)).length} *${end}`,
  );
  return counts.join(', ');
}

/** Bundles the model server, which runs in a process of its own. */
async function serverProgram(): Promise<string> {
  const outfile = path.join(mark, 'model-server.cjs');
  const entryPoints = [path.resolve('test/bench/chaos/modelServer.ts')];
  await build({ entryPoints, outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node22' });
  return outfile;
}

console.log(`Everything is in ${mark}`);
await collectLog(data, 6);

const sufferers: { readonly suffer: (signal: AbortSignal) => Promise<void> }[] = [];
const collections: { readonly made: Collection; readonly victim: Victim }[] = [];
async function collects(name: string, agent: string, seed: number): Promise<void> {
  const made = collection(name, { agent, seed, data, acknowledged });
  const victim = await victimOf(made.plan);
  await learnName(made, victim);
  collections.push({ made, victim });
  sufferers.push(victim);
}

const port = await freePort();
const server = kinds.has('server')
  ? await victimOf({
      ...{ name: 'server', program: await serverProgram(), parts: [] },
      ...{ next: () => [String(port)], seconds: 20, after: () => undefined },
    })
  : undefined;
if (server !== undefined) {
  const { child, over } = server.start([String(port)]);
  await collects('collect-server', `openai:chaos@http://127.0.0.1:${port}/v1`, 1);
  child.kill('SIGKILL');
  await over;
  sufferers.push(server);
}
if (kinds.has('collect')) {
  await collects('collect-1', 'starter', 1);
  // It wants the first one's collection, and gets it when that one is killed.
  await collects('rival', 'starter', 1);
}
await Promise.all(['grade', 'train', 'check'].map((name) => mkdir(path.join(mark, `${name}-files`))));
const grading = kinds.has('grade') ? await Grading.of(path.join(mark, 'grade-files'), findings) : undefined;
const grader = grading && (await victimOf(grading.plan));
const training = kinds.has('train')
  ? await Training.of(path.join(mark, 'train-files'), data, findings)
  : undefined;
const trainer = training && (await victimOf(training.plan));
const checker = await victimOf({
  ...{ name: 'check', parts: [], seconds: 1, next: () => [], after: () => undefined },
});
for (const one of [grader, trainer]) if (one !== undefined) sufferers.push(one);

console.log(`${sufferers.length} victims for ${values.minutes} minutes, seed ${values.seed}`);
const signal = AbortSignal.timeout(60_000 * Number(values.minutes));
await Promise.all(sufferers.map((one) => one.suffer(signal)));
for (const { pid, line } of await marked(mark)) if (TRAINER.test(line)) kill(pid);
await pause(GRACE_MS);
for (const { pid, line } of await marked(mark))
  findings.violation('processes', `${pid} is there ten seconds after the last kill: ${line.slice(0, 200)}`);

await check(checker);
console.log(`Left over: ${await rests()}`);
const again = server?.start([String(port)]);
let played = 0;
for (const { made, victim } of collections.filter(({ victim: { name } }) => name !== 'rival'))
  played += await finish(made, victim, data, findings);
again?.child.kill('SIGKILL');
if (grading && grader) {
  let life = await grader.undisturbed(grading.args);
  // When the CPU is too busy, the command says so, and the next start continues.
  for (let tries = 1; tries < 20 && life.stderr.includes('too busy to grade'); tries++)
    life = await grader.undisturbed(grading.args);
  if (life.code !== 0) findings.violation('grade', `undisturbed it ended with ${life.code}: ${life.stderr}`);
  await grading.look(life);
}
const steps = training && trainer ? await training.finish(trainer) : 0;
await check(checker);

findings.print();
console.log(
  `${played} dialogues of collections, ${acknowledged.size} grades seen before the end, ${grading?.whole ?? 0} files of grades, ` +
    `${steps} steps of a run`,
);
const { violations } = findings;
console.log(`${violations.length} violations (seed ${values.seed}, ${values.minutes} minutes)`);
if (violations.length > 0) {
  console.log(
    `See ${mark}, and again: node test/bench/run.mjs chaos --seed ${values.seed} --minutes ${values.minutes}`,
  );
  process.exitCode = 1;
} else if (!values.keep) await rm(mark, { recursive: true, force: true, maxRetries: 5 });
