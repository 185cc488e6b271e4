import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import {
  answered,
  agentTurn,
  candidates,
  choice,
  doubling,
  kim,
  openLog,
  started,
  temporaryFolder,
} from '../../fixtures/log';
import { json, tandem } from './tandem';

it('tandem leaderboard ranks models by choices, which tandem export writes as preferences', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await log.recordTask(doubling);
  await log.append({ event: 'consent', pseudonym: 'kim', purpose: 'a study', level: 'export' });
  for (const id of ['e0', 'e1', 'e2', 'e3'])
    // Kim prefers the second candidate, which is the rival's.
    await log.appendAll([
      started(id, { collaborator: kim }),
      candidates(id, 1),
      choice(id, 1, 1),
      agentTurn(id, 1, 'OUTPUT: candidate 1 for 1?'),
      answered(id, 1),
    ]);
  await log.close();
  const { stdout, code } = await tandem('leaderboard', '--data', data);
  expect(code).toBe(0);
  const [, first, second] = stdout.trim().split('\n');
  expect(first).toMatch(/^openai:rival +\d\d\.\d % \[\d+\.\d, \d\d\.\d\] +4 +4 +0 +0 +0$/);
  expect(second).toMatch(/^openai:agent .* 4 +0 +4 +0 +0$/);
  expect(await json(z.unknown(), 'standing', '--data', data)).toMatchObject({
    rows: [
      { model: 'openai:rival', wins: 4 },
      { model: 'openai:agent', losses: 4 },
    ],
    summary: { choices: 4, groups: 1, firstShown: { decided: 4, share: 0 } },
  });
  const out = path.join(data, 'choices.jsonl');
  const exported = await json(z.unknown(), 'export', '--format', 'choices', '--data', data, out);
  expect(exported).toMatchObject({ summary: { rows: 4 } });
});
