import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();
const data = path.join(folder, '.tandem');
const pack = path.resolve('samples/workspace/starter-world.jsonl');

const credited = z.object({
  rows: z.array(
    z.object({
      reward: z.number(),
      turns: z.array(z.object({ value: z.number(), advantage: z.number() })),
    }),
  ),
  summary: z.object({ by: z.string(), forcing: z.string().optional(), trajectories: z.number() }),
});

/** Each dialogue's credits must sum to R − V(h₁). */
function expectTelescoped({ rows }: z.infer<typeof credited>): void {
  for (const { reward, turns } of rows) {
    const sum = turns.reduce((total, { advantage }) => total + advantage, 0);
    expect(sum).toBeCloseTo(reward - turns[0]!.value, 10);
  }
}

it('credits what the starter model played by its forced answers, and by its rollouts, each once', async () => {
  const starter = ['--agent', 'starter', '--jobs', '1'];
  const play = ['--tasks', pack, '--limit', '3', '--simulator', 'rules', '--data', data];
  expect((await tandem('collect', ...play, ...starter)).code).toBe(0);

  const answers = ['score', data, '--answer-now', ...starter, '--answers', '4'];
  const answerNow = await json(credited, ...answers);
  expect(answerNow.summary).toMatchObject({ by: 'answer-now', forcing: 'opening', trajectories: 3 });
  expectTelescoped(answerNow);
  // Only a model whose forced message is code can pass a test.
  expect(Math.max(...answerNow.rows.flatMap(({ turns }) => turns.map(({ value }) => value)))).toBeGreaterThan(
    0,
  );

  const rolls = ['rollouts', data, ...starter, '--simulator', 'rules', '--rolls', '2'];
  const rolled = await json(credited, ...rolls);
  expect(rolled.summary).toMatchObject({ by: 'rollouts', trajectories: 3 });
  expectTelescoped(rolled);

  // Finished credit is kept: the same commands play nothing again.
  for (const [command, before] of [
    [answers, answerNow],
    [rolls, rolled],
  ] as const) {
    const { stdout, stderr } = await tandem(...command, '--json');
    expect(stderr).not.toContain('At most');
    expect(credited.parse(JSON.parse(stdout))).toEqual(before);
  }
});

it('says which options belong together', async () => {
  for (const [args, sentence] of [
    [[], '--critic <model>, or --answer-now'],
    [['--answer-now'], '--agent <model>'],
    [['--critic', 'c', '--agent', 'starter'], '--agent is for --answer-now'],
    [['--answer-now', '--agent', 'starter', '--critic', 'c'], "'--critic"],
  ] as const) {
    const { code, stderr } = await tandem('score', data, ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
  }
});
