import path from 'node:path';
import { expect, it } from 'vitest';
import { draftOf } from '../../../src/core/dialogue/drafts';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { commandFolder, tandem } from './tandem';

const { folder } = commandFolder();

it('plays generated pages to their answers with the page model that ships, without a browser', async () => {
  const pack = path.join(folder, 'world.jsonl');
  await tandem('world', pack, '--kind', 'pages', '--tasks', '8', '--split', 'development');
  const data = path.join(folder, 'shipped');
  const played = await tandem(
    ...['collect', '--tasks', pack, '--agent', 'starter-pages', '--simulator', 'rules', '--max-turns', '4'],
    ...['--data', data, '--browser', '/none'],
  );
  expect(played.stdout).toContain('8 of 8 dialogues');
  const log = await TrajectoryLog.open(data);
  const { rows } = log.list({ filter: {}, sort: 'newest', offset: 0, limit: 8 });
  const trajectories = await Array.fromAsync(log.trajectories(rows.map(({ id }) => id)));
  await log.close();
  expect(trajectories).toHaveLength(8);
  for (const { turns, grades } of trajectories) {
    expect(turns.every(({ agent }) => draftOf(agent.text) !== undefined)).toBe(true);
    const { measure, score, drafts } = grades.at(-1)!.grade.page!;
    expect([measure, drafts.length]).toEqual(['checks', turns.length]);
    expect(score).toBeGreaterThan(0.2);
  }
  expect(trajectories.some(({ answer }) => answer !== undefined)).toBe(true);
});
