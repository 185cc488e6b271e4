import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from '../fixtures/log';
import { askNeighbour } from './python';

const curvesSchema = z.record(z.string(), z.array(z.tuple([z.number(), z.number()])));

let run: string;
let events: string;

async function emptyRun(): Promise<void> {
  run = path.join(await temporaryFolder(), '20260101-000000-aaaa');
  events = path.join(run, 'events.jsonl');
  await mkdir(run);
  await writeFile(path.join(run, 'run.json'), '{}');
}

afterEach(() => vi.unstubAllEnvs());

const event = (kind: string, fields: object): string =>
  `${JSON.stringify({ version: 1, at: '2026-01-01T00:00:00Z', event: kind, stage: 'policy', ...fields })}\n`;
const step = (number: number): string => event('step', { step: number, loss: 1 / number, mfu: null });

/** Tracks the run once, as `tandem track` does. */
const track = (...to: readonly string[]): Promise<unknown> =>
  askNeighbour(['-m', 'tandem_trainer', 'track', run, '--once', ...to], { imports: path.resolve('trainer') });

const curves = async (...args: readonly string[]) =>
  curvesSchema.parse(await askNeighbour([path.resolve('test/neighbours/read_curves.py'), ...args]));

it('TensorBoard and trackio show the figures of a run, each once, wherever its tracking was interrupted', async () => {
  await emptyRun();
  const folder = await temporaryFolder();
  vi.stubEnv('TRACKIO_DIR', path.join(folder, 'trackio'));
  const board = path.join(folder, 'board');
  const targets = [
    ['--tensorboard', board],
    ['--trackio', 'tandem'],
  ];

  await writeFile(events, step(1) + step(2) + step(3).slice(0, 20));
  for (const to of targets) expect(await track(...to)).toMatchObject({ figures: 2, state: null });
  // The trainer died after its second step, and goes on from the checkpoint of the first.
  await appendFile(events, step(3).slice(20));
  await appendFile(events, step(2) + step(3) + event('evaluation', { step: 3, loss: 0.25, best: true }));
  await appendFile(events, event('state', { state: 'done' }));
  for (const to of targets) expect(await track(...to)).toMatchObject({ figures: 2, state: 'done' });
  for (const to of targets) expect(await track(...to)).toMatchObject({ figures: 0 });

  const expected = {
    'policy/loss': [1, 2, 3].map((number) => [number, expect.closeTo(1 / number, 5) as number]),
    'policy/held_out/loss': [[3, 0.25]],
  };
  expect(await curves('tensorboard', path.join(board, '20260101-000000-aaaa'))).toEqual(expected);
  expect(await curves('trackio', 'tandem', '20260101-000000-aaaa')).toEqual(expected);
  expect(await readFile(events, 'utf8')).toContain('"state":"done"');
});
