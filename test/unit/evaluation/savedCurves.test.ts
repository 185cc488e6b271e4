import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { savedCurves, saveCurve, type Curve } from '../../../src/core/evaluation/savedCurves';
import { temporaryFolder } from '../../fixtures/log';

const success = (mean: number) => ({
  ...{
    mean,
    interval: { low: mean - 0.1, high: mean + 0.1 },
    coversSeeds: true,
    bySeed: [mean, mean],
    tasks: 40,
  },
});
const curve = (run: string): Curve => ({
  ...{ validation: 40, start: success(0.2), gain: success(0.15), moreHelps: 'likely' },
  points: [
    { share: 0.5, tasks: 20, dialogues: 20, success: success(0.3) },
    { share: 1, tasks: 40, dialogues: 40.5, success: success(0.45) },
  ],
  runs: [{ id: run, share: 1, seed: 1 }],
});

const saved = (run: string) => ({ method: 'distill', base: '/models/starter', curve: curve(run) });

it('keeps the latest curve of the same runs', async () => {
  const folder = await temporaryFolder();
  for (const run of ['a', 'b', 'a']) await saveCurve(folder, saved(run));
  const { curves, unreadable } = await savedCurves(folder, new Set(['a', 'b']));
  expect(curves.map(({ curve: of }) => of)).toEqual([curve('a'), curve('b')]);
  expect(unreadable).toEqual([]);
});

it('drops a curve with the last of its runs, and names a file that is none', async () => {
  const folder = await temporaryFolder();
  expect(await savedCurves(folder, new Set(['a']))).toEqual({ curves: [], unreadable: [] });
  for (const run of ['a', 'b']) await saveCurve(folder, saved(run));
  const other = path.join(folder, 'curves', 'other.json');
  await mkdir(path.dirname(other), { recursive: true });
  await writeFile(other, '{"version":2}');
  const { curves, unreadable } = await savedCurves(folder, new Set(['b']));
  expect(curves.map(({ curve: { runs } }) => runs[0]!.id)).toEqual(['b']);
  expect(unreadable).toEqual([other]);
});
