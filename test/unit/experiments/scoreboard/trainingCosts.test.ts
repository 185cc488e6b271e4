import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { trainingCosts } from '../../../../experiments/scoreboard/trainingCosts';

it('counts sampled and trained tokens by their events, and a step that a resumed run repeats once', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-costs-'));
  const head = { version: 1, at: '2026-01-01T00:00:00Z' };
  const step = (stage: string, number: number, tokens: number) => ({
    ...{ ...head, event: 'step', stage, step: number, steps: 2, tokens },
  });
  const candidates = { ...head, event: 'candidates', histories: 1, candidates: 8 };
  const events = [
    ...[step('critic', 1, 10), step('critic', 2, 20), step('critic', 2, 20)],
    ...[{ ...candidates, stage: 'candidates', tokens: 100 }, step('policy', 1, 5)],
    ...[
      { ...candidates, stage: 'candidates-2', tokens: 50 },
      { ...step('policy-2', 1, 7), dialogues: 16 },
    ],
  ];
  await writeFile(
    path.join(folder, 'events.jsonl'),
    events.map((one) => `${JSON.stringify(one)}\n`).join(''),
  );
  const run = { folder, startedAt: '2026-01-01T00:00:00Z', changedAt: '2026-01-01T00:01:30Z' };
  expect(await trainingCosts(run)).toEqual({ played: 16, sampled: 150, trained: 42, minutes: 1.5 });
  await rm(folder, { recursive: true });
});
