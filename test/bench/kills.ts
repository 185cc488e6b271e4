/**
 * Kills commands, and a stand-in for an extension host, by SIGKILL at random moments, and counts the processes that
 * remain ten seconds later, by id, start time and command line.
 *
 *   npm run build && TANDEM_TRAINER_PYTHON=… node test/bench/run.mjs kills [--kills 100] [--seed 1] [grade] [collect] [host]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mulberry32 } from '../../src/core/random';
import { killed, marked, stillThere, type Seen } from '../fixtures/left-behind';
import { victimsIn, type Kind } from '../fixtures/victims';

const GRACE_MS = 10_000;

const { values, positionals } = parseArgs({
  options: { kills: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const kinds = (positionals.length > 0 ? positionals : ['grade', 'collect', 'host']) as Kind[];
const mark = await mkdtemp(path.join(tmpdir(), 'tandem-kills-'));
const victims = await victimsIn(mark);
for (const kind of kinds) {
  const random = mulberry32(Number(values.seed));
  const deadlines: Promise<Seen[]>[] = [];
  let hadChildren = 0;
  for (let kill = 0; kill < Number(values.kills); kill++) {
    const there = await killed(victims[kind], mark, { fraction: random(), atWork: kill % 3 > 0 });
    if (there.length > 0) hadChildren++;
    deadlines.push(pause(GRACE_MS).then(() => stillThere(mark, there)));
  }
  const left = (await Promise.all(deadlines)).filter((each) => each.length > 0);
  console.log(
    `${kind}: ${left.length} of ${values.kills} kills left something; ${hadChildren} met processes at work`,
  );
  for (const { pid, line } of left.flat().slice(0, 5)) console.log(`  ${pid} ${line.slice(0, 160)}`);
}
await pause(GRACE_MS);
for (const { pid } of await marked(mark)) process.kill(pid, 'SIGKILL');
await rm(mark, { recursive: true, force: true });
