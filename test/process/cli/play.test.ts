import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, demonstration, json, tandem } from './tandem';

const { folder, file, play } = commandFolder();

describe('tandem collect', () => {
  it('plays, grades and logs; a second call finds everything done', async () => {
    const schema = z.object({
      summary: z.object({ total: z.number(), done: z.number(), already: z.number() }),
    });
    const rollouts = async (count: string) =>
      (await json(schema, 'collect', ...play('twice', '--rollouts', count))).summary;
    expect(await rollouts('1')).toEqual({ total: 6, done: 6, already: 0 });
    expect(await rollouts('2')).toEqual({ total: 12, done: 12, already: 6 });
  });
});

describe('tandem evaluate', () => {
  it('compares two agents on the same tasks, and grades once more in another mode without playing again', async () => {
    const guess = await file('guesses.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
    const estimate = z.object({
      mean: z.number(),
      interval: z.object({ low: z.number(), high: z.number() }),
    });
    const schema = z.object({
      rows: z.array(z.object({ agent: z.string(), task: z.string() })),
      summary: z.object({
        agents: z.array(z.object({ mode: z.string(), success: estimate, meanTurns: z.number() })),
        comparisons: z.array(z.object({ success: z.object({ difference: z.number(), tasks: z.number() }) })),
      }),
    });
    const both = play('compare', '--agent', `script:${guess}`);
    const { rows, summary } = await json(schema, 'evaluate', ...both, '--mode', 'fixed');
    expect(rows).toHaveLength(12);
    const [asks, guesses] = summary.agents;
    expect(asks!.success.mean).toBeGreaterThan(0);
    expect(asks!.meanTurns).toBeGreaterThan(1);
    expect(guesses!.success).toMatchObject({ mean: 0, interval: { low: 0 } });
    expect(guesses!.success.interval.high).toBeGreaterThan(0);
    expect(summary.comparisons[0]!.success).toMatchObject({ difference: -asks!.success.mean, tasks: 6 });

    // Both agents after one --agent are the same two.
    const atOnce = ['--agent', demonstration, `script:${guess}`, '--simulator', 'rules', '--jobs', '1'];
    const data = path.join(folder, 'compare');
    const same = ['--tasks', starterPack, '--limit', '6', '--data', data, '--mode', 'paper'];
    const again = await json(schema, 'evaluate', ...atOnce, ...same);
    expect(again.summary.agents.map(({ mode }) => mode)).toEqual(['paper', 'paper']);
    const log = await TrajectoryLog.open(data);
    expect(log.list({ offset: 0, limit: 100 }).total).toBe(12);
    await log.close();
  });

  it('shows no rate where nothing was graded, says why, and exits with 1', async () => {
    const { code, stdout } = await tandem(
      ...['evaluate', '--tasks', starterPack, '--limit', '2', '--simulator', 'rules'],
      ...['--agent', 'openai:m@http://127.0.0.1:9/v1', '--data', path.join(folder, 'nothing')],
    );
    expect(stdout).toMatch(/m@http:\S+ +0 +– +–/);
    expect(stdout).toMatch(/2 dialogues failed: .*127\.0\.0\.1:9/);
    expect(code).toBe(1);
  });
});
