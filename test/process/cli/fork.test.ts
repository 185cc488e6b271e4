import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { commandFolder, json, tandem } from './tandem';

const { folder, file, play } = commandFolder();
const data = path.join(folder, 'forks');

const forked = z.object({
  summary: z.object({ dialogue: z.string(), parent: z.string(), turn: z.number(), reward: z.number() }),
});

it('continues a dialogue otherwise, grades it, and forks the fork', async () => {
  await tandem('collect', ...play('forks', '--limit', '1'));
  const log = await TrajectoryLog.open(data);
  const [parent] = log.list({ offset: 0, limit: 1 }).rows;
  await log.close();
  const guess = await file('guess.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
  const fork = (id: string, ...more: string[]) =>
    json(
      forked,
      ...['fork', id, '--agent', `script:${guess}`, '--simulator', 'rules', '--data', data, ...more],
    );
  const { summary } = await fork(parent!.id, '--turn', '2');
  expect(summary).toMatchObject({ parent: parent!.id, turn: 2, reward: 0 });
  const again = await fork(summary.dialogue, '--turn', '1', '--reply');
  expect(again.summary.parent).toBe(parent!.id);
  const refused = await tandem(
    ...[
      'fork',
      parent!.id,
      '--turn',
      '40',
      '--agent',
      `script:${guess}`,
      '--simulator',
      'rules',
      '--data',
      data,
    ],
  );
  expect(refused.stderr).toContain('cannot be continued');
});
