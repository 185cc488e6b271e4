import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../src/core/task/pack';
import { programOf, type ProgramTask } from '../../src/core/task/task';
import { starterPack } from '../fixtures/dialogue';
import { serveEnvironment } from '../fixtures/environment';
import type { ServingProcess } from '../fixtures/serving';
import { runNeighbour } from './python';

const playedSchema = z.array(
  z.object({
    results: z.array(
      z.object({
        observation: z.looseObject({ message: z.string(), turn: z.number() }).optional(),
        reward: z.number().nullish(),
        done: z.boolean().optional(),
        metadata: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
    state: z.record(z.string(), z.unknown()),
  }),
);

let tasks: readonly ProgramTask[];
let server: ServingProcess;

beforeAll(async () => {
  tasks = (await loadTasks(starterPack)).tasks.map(programOf);
  server = await serveEnvironment();
});

afterAll(() => server.stop());

/** Plays with OpenEnv's client, as many episodes at once as there are. */
async function played(episodes: readonly object[]) {
  const plan = JSON.stringify({ url: server.url, episodes });
  return playedSchema.parse(
    JSON.parse(await runNeighbour([path.resolve('test/neighbours/play_openenv.py'), plan])),
  );
}

const question = { kind: 'ask', message: 'Is the limit inclusive?' };

describe('OpenEnv', () => {
  it('finds nothing wrong with the running server', async () => {
    const report = await runNeighbour([
      '-m',
      'openenv.cli',
      'validate',
      '--json',
      '--timeout',
      '600',
      '--url',
      server.url,
    ]);
    const { passed, criteria } = z
      .object({ passed: z.boolean(), criteria: z.array(z.object({ id: z.string(), passed: z.boolean() })) })
      .parse(JSON.parse(report));
    expect(criteria.filter((criterion) => !criterion.passed)).toEqual([]);
    expect(criteria.length).toBeGreaterThan(0);
    expect(passed).toBe(true);
  });

  it('plays whole episodes with its client, many at once', async () => {
    const episodes = tasks.slice(0, 16).map(({ id, reference }) => ({
      reset: { task_id: id, episode_id: `of ${id}` },
      actions: [question, { message: `OUTPUT:\nI WANT TO ANSWER:\n${reference}` }],
    }));
    const all = await played(episodes);
    expect(all).toHaveLength(16);
    for (const [index, { results, state }] of all.entries()) {
      const { id, description, testCases } = tasks[index]!;
      const [begun, replied, ended] = results;
      expect(begun).toMatchObject({
        observation: { message: description, turn: 0 },
        reward: null,
        done: false,
      });
      expect(replied).toMatchObject({ observation: { turn: 1 }, reward: 0, done: false });
      expect(replied?.observation?.message).not.toBe('');
      expect(ended).toMatchObject({
        reward: 1,
        done: true,
        metadata: { task: id, success: true, tests_passed: testCases.length },
      });
      expect(state).toMatchObject({ episode_id: `of ${id}`, step_count: 2, done: true });
    }
  });

  it('runs the example of the docs', async () => {
    const page = await readFile('docs/environment.md', 'utf8');
    const [, example = ''] = /```python\n(.*?)\n```\n\n##/s.exec(page) ?? [];
    const printed = await runNeighbour(['-c', example.replace('http://127.0.0.1:8000', server.url)]);
    expect(printed.trim().split('\n')).toHaveLength(4);
  });

  it('reads every answer by plain HTTP with its own types, and the observations fit the schemas', async () => {
    const checker = path.resolve('test/neighbours/check_openenv_types.py');
    expect((await runNeighbour([checker, server.url, tasks[0]!.id])).trim()).toBe('fits');
  });
});
