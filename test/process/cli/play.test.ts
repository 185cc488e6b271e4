import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import type { Ended } from '../../fixtures/tasks';
import { commandFolder, demonstration, json, starterRows, tandem } from './tandem';

const { folder, file, play } = commandFolder();

describe('tandem collect and evaluate', () => {
  it('plays, grades and logs; a second call finds everything done', async () => {
    const schema = z.object({
      summary: z.object({ total: z.number(), done: z.number(), already: z.number() }),
    });
    expect((await json(schema, 'collect', ...play('twice', '--rollouts', '2'))).summary).toEqual({
      total: 12,
      done: 12,
      already: 0,
    });
    expect((await json(schema, 'collect', ...play('twice', '--rollouts', '3'))).summary).toEqual({
      total: 18,
      done: 18,
      already: 12,
    });
  });

  it('compares two agents on the same tasks, with intervals and a paired difference', async () => {
    const guess = await file('guesses.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
    const estimate = z.object({
      mean: z.number(),
      interval: z.object({ low: z.number(), high: z.number() }),
    });
    const schema = z.object({
      rows: z.array(z.object({ agent: z.string(), task: z.string() })),
      summary: z.object({
        agents: z.array(z.object({ success: estimate, tasks: z.number(), meanTurns: z.number() })),
        comparisons: z.array(z.object({ success: z.object({ difference: z.number(), tasks: z.number() }) })),
      }),
    });
    const { rows, summary } = await json(
      schema,
      'evaluate',
      ...play('compare', '--agent', `script:${guess}`),
    );
    expect(rows).toHaveLength(12);
    const [asks, guesses] = summary.agents;
    expect(asks!.success.mean).toBeGreaterThan(0);
    expect(asks!.meanTurns).toBeGreaterThan(1);
    expect(guesses!.success).toMatchObject({ mean: 0, interval: { low: 0 } });
    expect(guesses!.success.interval.high).toBeGreaterThan(0);
    expect(summary.comparisons[0]!.success).toMatchObject({ difference: -asks!.success.mean, tasks: 6 });

    const help = (await tandem('evaluate', '--help')).stdout.replace(/\s+/g, ' ');
    expect(help).toContain('--agent A --agent B, or --agent A B, compares B with A');
    const atOnce = ['--agent', demonstration, `script:${guess}`, '--simulator', 'rules', '--jobs', '1'];
    const same = ['--tasks', starterPack, '--limit', '6', '--data', path.join(folder, 'compare')];
    const again = await json(schema, 'evaluate', ...atOnce, ...same);
    expect(again.summary.comparisons).toEqual(summary.comparisons);
  });

  it('grades what was played once more in another mode, without playing it again', async () => {
    const schema = z.object({
      summary: z.object({
        agents: z.array(z.object({ mode: z.string(), dialogues: z.number(), notGradable: z.number() })),
      }),
    });
    await tandem('evaluate', ...play('modes', '--mode', 'fixed'));
    const { summary } = await json(schema, 'evaluate', ...play('modes', '--mode', 'paper'));
    expect(summary.agents).toEqual([{ mode: 'paper', dialogues: 6, notGradable: 0 }]);
    const log = await TrajectoryLog.open(path.join(folder, 'modes'));
    expect(log.list({ offset: 0, limit: 100 }).total).toBe(6);
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

  it('refuses a task that changed under its id, and plays a task of two packs once', async () => {
    const rows = await starterRows();
    const one = await file('one.jsonl', rows.slice(0, 2));
    const same = await file('same.jsonl', rows.slice(1, 3));
    const changed = await file('changed.jsonl', [
      { ...rows[0], ground_truth: 'def parcel_price(w, z):\n    return 1' },
    ]);
    const collect = (...tasks: string[]): Promise<Ended> =>
      tandem(
        ...['collect', '--tasks', ...tasks, '--agent', demonstration, '--simulator', 'rules'],
        ...['--data', path.join(folder, 'changed'), '--jobs', '1'],
      );
    const twice = await collect(one, same);
    expect(twice.stdout).toContain('3 of 3 dialogues');
    expect(twice.stderr).toContain('is in an earlier pack too');
    const again = await collect(changed);
    expect(again.stderr).toMatch(
      /The task parcel-surcharge in changed\.jsonl is not the one that was played before/,
    );
    expect(again.code).toBe(1);
  });

  it('gives up with one sentence when the server is not there', async () => {
    const { code, stderr } = await tandem(
      ...['collect', '--tasks', starterPack, '--simulator', 'rules', '--data', path.join(folder, 'down')],
      ...['--agent', 'openai:m@http://127.0.0.1:9/v1', '--concurrency', '8'],
    );
    expect(stderr).toMatch(/8 dialogues in a row failed.*127\.0\.0\.1:9/);
    expect(code).toBe(1);
  });
});
