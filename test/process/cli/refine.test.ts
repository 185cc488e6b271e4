import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseAgentMessage } from '../../../src/core/dialogue/protocol';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();

const evaluated = z.object({ summary: z.object({ agents: z.array(z.object({ agent: z.string() })) }) });

test('tandem evaluate plays a model alone, with one draft and with two, and logs the drafts', async () => {
  const [pack, data] = [path.join(folder, 'pack.jsonl'), path.join(folder, 'data')];
  await tandem('world', pack, '--tasks', '3', '--split', 'development');
  const agents = ['starter', 'refine:starter,drafts=1', 'refine:starter'];
  await json(
    evaluated,
    ...['evaluate', '--tasks', pack, '--simulator', 'rules', '--max-turns', '8', '--data', data],
    ...['--temperature', '1', '--jobs', '1', '--agent', ...agents],
  );
  const played = await trajectories(data);
  const [alone, one, two] = agents.map((name) => played.filter(({ agent }) => agent === name));
  const texts = (all: readonly Trajectory[]): readonly string[] =>
    all.map(({ turns }) => turns.map(({ agent }) => agent.text).join('\n')).sort();
  expect(texts(alone!)).toHaveLength(3);
  expect(texts(one!)).toEqual(texts(alone!));
  for (const { agent } of two!.flatMap(({ turns }) => turns)) {
    const isAnswer = parseAgentMessage(agent.text).answer !== undefined;
    if (isAnswer) expect(agent.selection).toMatchObject({ place: 0, candidates: [{ text: agent.text }, {}] });
    expect(agent.model).toBe(agent.selection?.place === undefined && agent.selection ? agents[2] : 'starter');
  }
});

const collected = z.object({
  summary: z.object({ collection: z.string(), total: z.number(), done: z.number(), already: z.number() }),
});

test('tandem collect --tree plays trees of an agent with three roles, and nothing twice', async () => {
  const [pack, data] = [path.join(folder, 'trees.jsonl'), path.join(folder, 'trees')];
  await tandem('world', pack, '--tasks', '3', '--split', 'development');
  const roles = 'refine:starter,verifier=starter,refiner=starter';
  const collect = (agent: string): string[] => [
    ...['collect', '--tree', '2', '--tasks', pack, '--simulator', 'rules', '--max-turns', '8'],
    ...['--data', data, '--jobs', '1', '--agent', agent],
  ];
  const { collection, total, done } = (await json(collected, ...collect(roles))).summary;
  expect(collection).toMatch(/^tree2-/);
  expect(done).toBe(total);
  // Each task has a second draft at least.
  expect(total).toBeGreaterThanOrEqual(6);
  expect((await json(collected, ...collect(roles))).summary).toMatchObject({ total, already: total });
  expect(await trajectories(data)).toHaveLength(total);
  const refused = await tandem(...collect('refine:starter'));
  expect([refused.code, refused.stderr.trim().split('\n').length]).toEqual([2, 1]);
});

async function trajectories(data: string): Promise<readonly Trajectory[]> {
  const log = await TrajectoryLog.open(data);
  try {
    const { rows } = log.list({ filter: {}, sort: 'newest', offset: 0, limit: 100 });
    return await Array.fromAsync(log.trajectories(rows.map(({ id }) => id)));
  } finally {
    await log.close();
  }
}
