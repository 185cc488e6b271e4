/*
 * Measures whether reading a log grows with its size: processor time at N, 2N and 4N of `tandem check`, the first
 * opening, the second one and an export, for logs of odd shapes. About 4 at 4N is linear.
 *
 *   node test/bench/run.mjs log/growth [--segments N] [--shape NAME]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkLog } from '../../../src/core/trajectory/check';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { fillLog, logShapes } from '../../fixtures/logShapes';

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function open(folder: string): Promise<void> {
  await (await TrajectoryLog.open(folder)).close();
}

async function readAll(folder: string): Promise<void> {
  const log = await TrajectoryLog.open(folder);
  const ids = log.list({ offset: 0, limit: 1_000_000 }).rows.map(({ id }) => id);
  for await (const trajectory of log.trajectories(ids, () => undefined)) void trajectory;
  await log.close();
}

const { values } = parseArgs({
  options: { segments: { type: 'string', default: '1000' }, shape: { type: 'string' } },
});
const base = Number(values.segments);
for (const [name, make] of Object.entries(logShapes)) {
  if (values.shape !== undefined && !name.includes(values.shape)) continue;
  const rows: number[][] = [];
  for (const n of [base, 2 * base, 4 * base]) {
    const folder = await mkdtemp(join(tmpdir(), 'tandem-growth-'));
    try {
      await fillLog(folder, make(n));
      rows.push([
        await seconds(() => checkLog(folder)),
        await seconds(() => open(folder)),
        await seconds(() => open(folder)),
        await seconds(() => readAll(folder)),
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const columns = ['check', 'first opening', 'opening', 'reading all'].map((what, index) => {
    const [one = 0, , four = 0] = rows.map((row) => row[index]!);
    return `${what} ${rows.map((row) => row[index]!.toFixed(2)).join(' ')} (${(four / one).toFixed(1)})`;
  });
  console.log(`${name}: ${columns.join('; ')}`);
}
