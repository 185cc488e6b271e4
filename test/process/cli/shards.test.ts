import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { temporaryFolder } from '../../fixtures/log';

const run = promisify(execFile);

async function tandem(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, ['dist/tandem.js', ...args]);
  return stdout;
}

const collect = (data: string, ...args: readonly string[]): Promise<string> =>
  tandem(
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
  expect(said[0]).toContain(`3 of 3 dialogues of shard 1 of 4 are in ${shared!}.`);
  expect(said[3]).toContain(`2 of 2 dialogues of shard 4 of 4 are in ${fourth!}.`);
  for (const [from, imported] of [
    [third!, 2],
    [fourth!, 2],
    [third!, 0],
  ] as const)
    expect(await tandem('import', from, '--data', shared!)).toContain(
      `${imported} trajectories imported from ${from} into ${shared!}.`,
    );
  const shards = await dialogues(shared!);
  expect(shards.size).toBe(10);
  expect(shards).toEqual(await dialogues(alone!));
  // The same command without a shard finds nothing left to play.
  expect(await collect(shared!)).toContain(`10 of 10 dialogues are in ${shared!}, 10 of them from before.`);
});

it('a shard that is none, and a folder without dialogues, are refused in one sentence', async () => {
  const folder = await temporaryFolder();
  const refused = (...args: readonly string[]) =>
    tandem(...args).catch((error: unknown) => (error as { readonly stderr: string }).stderr);
  expect(
    await refused('collect', '--agent', 'starter', '--simulator', 'rules', '--tasks', 'x', '--shard', '5/4'),
  ).toBe('--shard takes a shard and the number of shards, such as 1/4, not "5/4".\n');
  expect(await refused('import', folder, '--data', path.join(folder, 'mine'))).toMatch(
    /has no dialogues: name the data folder of another Tandem\.\n$/,
  );
});
