import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { trainingCosts } from '../../../../experiments/scoreboard/trainingCosts';

it('counts the tokens of all stages, also of a critic that an earlier run trained', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'tandem-costs-'));
  const head = { version: 1, at: '2026-01-01T00:00:00Z' };
  const stages = {
    critic: { steps: 2, tokens: 30 },
    candidates: { histories: 4, candidates: 32, tokens: 100 },
    ranking: { histories: 4, candidates: 20 },
    policy: { steps: 1, tokens: 5 },
    'candidates-2': { histories: 4, candidates: 32, tokens: 50 },
    'policy-2': { steps: 1, tokens: 7, dialogues: 16 },
  };
  // The critic has no steps here, because it came from another run.
  const events = [
    { ...head, event: 'step', stage: 'policy', step: 1, steps: 1, tokens: 5 },
    { ...head, event: 'result', model: 'model', stages },
  ];
  await writeFile(
    path.join(folder, 'events.jsonl'),
    events.map((one) => `${JSON.stringify(one)}\n`).join(''),
  );
  const run = { folder, startedAt: '2026-01-01T00:00:00Z', changedAt: '2026-01-01T00:01:30Z' };
  expect(await trainingCosts(run)).toEqual({ played: 16, sampled: 150, trained: 42, minutes: 1.5 });
  await rm(folder, { recursive: true });
});
