import { expect, it } from 'vitest';
import * as z from 'zod';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { temporaryFolder } from '../../fixtures/log';
import { json } from './tandem';

const done = (count: number, already = 0) => ({ summary: { done: count, total: count, already } });

const collect = (data: string, ...args: readonly string[]): Promise<unknown> =>
  json(
    z.unknown(),
    ...['collect', '--tasks', 'samples/workspace/starter-world.jsonl', '--limit', '5', '--rollouts', '2'],
    ...['--agent', 'starter', '--simulator', 'rules', '--jobs', '1', '--data', data, ...args],
  );

/** Returns what was said and how it was graded, by task and rollout. */
async function dialogues(data: string): Promise<Map<string, unknown>> {
  const log = await TrajectoryLog.open(data);
  const { rows } = log.list({ offset: 0, limit: 99 });
  const found = rows.map(async ({ id, taskId, rollout }): Promise<[string, unknown]> => {
    const { turns, answer, grades } = (await log.trajectory(id))!;
    const said = turns.map(({ agent, reply }) => [agent.text, reply?.text]);
    return [
      `${taskId}#${rollout}`,
      { said, answer: answer?.answer, rewards: grades.map(({ grade }) => grade.reward) },
    ];
  });
  const all = await Promise.all(found);
  await log.close();
  expect(new Set(all.map(([job]) => job)).size, 'no dialogue twice').toBe(all.length);
  return new Map(all);
}

it('four shards, played at once into one folder and into others that are merged, are one collection', async () => {
  const [shared, third, fourth, alone] = await Promise.all([1, 2, 3, 4].map(temporaryFolder));
  const said = await Promise.all([
    collect(shared!, '--shard', '1/4'),
    collect(shared!, '--shard', '2/4'),
    collect(third!, '--shard', '3/4'),
    collect(fourth!, '--shard', '4/4'),
    collect(alone!),
  ]);
  expect(said).toMatchObject([done(3), done(3), done(2), done(2), done(10)]);
  for (const from of [third!, fourth!])
    expect(await json(z.unknown(), 'import', from, '--data', shared!)).toMatchObject({
      summary: { imported: 2 },
    });
  const shards = await dialogues(shared!);
  expect(shards.size).toBe(10);
  expect(shards).toEqual(await dialogues(alone!));
  // The same command without a shard finds nothing left to play.
  expect(await collect(shared!)).toMatchObject(done(10, 10));
});
