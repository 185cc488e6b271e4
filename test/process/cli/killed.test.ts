import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mulberry32 } from '../../../src/core/random';
import { eventually } from '../../fixtures/eventually';
import { killed, marked, stillThere, type Victim } from '../../fixtures/left-behind';
import { victimsIn, type Kind } from '../../fixtures/victims';

// `node test/bench/run.mjs kills` makes more kills of each kind.

const SEED = 1;

let mark: string;
let victims: Readonly<Record<Kind, Victim>>;

beforeAll(async () => {
  mark = await mkdtemp(path.join(tmpdir(), 'tandem-killed-'));
  victims = await victimsIn(mark);
});

afterAll(async () => {
  for (const { pid } of await marked(mark)) process.kill(pid, 'SIGKILL');
  await rm(mark, { recursive: true, force: true });
});

// Windows has no `ps`, and ends child processes with their parent.
it.skipIf(process.platform === 'win32').each([
  { what: '`tandem grade`', kind: 'grade', kills: 6 },
  { what: '`tandem collect` with a local model', kind: 'collect', kills: 6 },
  { what: 'a process with everything that an extension host starts', kind: 'host', kills: 6 },
] as const)('$what that is killed at any moment leaves no process behind', async ({ kind, kills }) => {
  const random = mulberry32(SEED);
  let met = 0;
  for (let kill = 0; kill < kills; kill++) {
    const there = await killed(victims[kind], mark, { fraction: random(), atWork: kill % 3 > 0 });
    met += there.length;
    await eventually(async () => expect(await stillThere(mark, there)).toEqual([]));
  }
  expect(met).toBeGreaterThan(kills / 3);
  await eventually(async () => expect(await marked(mark)).toEqual([]));
});

it('the grading process waits for none of its threads when nobody is left to grade for', async () => {
  const assets = path.resolve('dist');
  const settings = JSON.stringify({ assets, workers: 2, memoryMegabytes: 256 });
  const grader = fork(path.join(assets, 'grader.js'), [settings], { env: {} });
  await once(grader, 'message');
  const job = {
    source: 'def f():\n    while True: pass',
    calls: ['f()'],
    start: 0,
    mode: 'fixed',
    seed: '0',
  };
  for (const id of [1, 2, 3]) grader.send({ kind: 'run', id, job: { ...job, limitMilliseconds: 20 } });
  await once(grader, 'message');
  const exited = once(grader, 'exit');
  grader.disconnect();
  // It does not end by an error either, although an answer on its way has no receiver.
  expect(await exited).toEqual([null, 'SIGKILL']);
});
