import { existsSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { loadTasks } from '../../../src/core/task/pack';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { starterPack } from '../../fixtures/dialogue';
import { dialogue, review } from '../../fixtures/log';
import type { Ended } from '../../fixtures/tasks';
import { commandFolder, json, tandem } from './tandem';

const { folder, file, play } = commandFolder();

describe('tandem import and export', () => {
  const rowsOf = async (file: string): Promise<unknown[]> =>
    (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);

  const source = path.join(folder, 'source');
  beforeAll(() => tandem('collect', ...play('source')));

  it('exports what was collected, and imports it elsewhere just once', async () => {
    const out = path.join(folder, 'rows.jsonl');
    const exported = z.object({ summary: z.object({ rows: z.number(), card: z.string() }) });
    const { summary } = await json(
      exported,
      ...['export', '--format', 'trajectories', '--data', source, out],
    );
    expect(summary.rows).toBe(6);
    expect(await readFile(summary.card, 'utf8')).toContain('asks-first');
    const imported = z.object({ summary: z.object({ imported: z.number(), alreadyThere: z.number() }) });
    const into = ['import', out, '--data', path.join(folder, 'target')];
    expect((await json(imported, ...into)).summary).toEqual({ imported: 6, alreadyThere: 0 });
    expect((await json(imported, ...into)).summary).toEqual({ imported: 0, alreadyThere: 6 });
  });

  it('exports chat rows that hold what the agent saw and wrote', async () => {
    const out = path.join(folder, 'chat.jsonl');
    const { code } = await tandem('export', '--format', 'chat', '--data', source, out);
    expect(code).toBe(0);
    const message = z.object({ role: z.enum(['user', 'assistant']), content: z.string() });
    const [first] = z.array(z.object({ messages: z.array(message) })).parse(await rowsOf(out));
    expect(first!.messages[0]!.content).toContain('You are a programming assistant');
    expect(first!.messages.at(-1)!.content).toContain('I WANT TO ANSWER:');
  });

  it('leaves out what is to be redone, and on demand what nobody accepted', async () => {
    const data = path.join(folder, 'reviewed');
    await cp(source, data, { recursive: true });
    const log = await TrajectoryLog.open(data);
    const [first, second] = log.list({ offset: 0, limit: 2 }).rows;
    await log.appendAll([
      review(first!.id, 'kim', 'redo', 'It guesses.'),
      review(second!.id, 'kim', 'accepted'),
    ]);
    await log.close();
    const rows = async (...options: string[]): Promise<unknown> => {
      const out = path.join(folder, `reviewed${options.join('')}.jsonl`);
      const exported = z.object({
        summary: z.object({ rows: z.number(), leftOut: z.record(z.string(), z.number()) }),
      });
      return (await json(exported, ...['export', '--format', 'chat', '--data', data, ...options, out]))
        .summary;
    };
    expect(await rows()).toEqual({ rows: 5, leftOut: { 'to be redone': 1 } });
    expect(await rows('--with-redo')).toEqual({ rows: 6, leftOut: {} });
    expect(await rows('--only-accepted')).toEqual({
      rows: 1,
      leftOut: { 'to be redone': 1, 'not accepted': 4 },
    });
  });

  it('exports preference rows of a better and a worse trajectory, and leaves evaluations out', async () => {
    const guess = await file('worse.json', [['OUTPUT:\nI WANT TO ANSWER:\ndef f():\n    return 0']]);
    const data = path.join(folder, 'preferences');
    await cp(source, data, { recursive: true });
    const withGuess = [
      '--tasks',
      starterPack,
      '--limit',
      '6',
      '--agent',
      `script:${guess}`,
      '--simulator',
      'rules',
    ];
    await tandem('collect', ...withGuess, '--data', data);
    await tandem('evaluate', ...play('preferences'));
    const out = path.join(folder, 'preferences.jsonl');
    const { stdout } = await tandem('export', '--format', 'preferences', '--data', data, out);
    expect(stdout).toContain('Left out: 6 played in an evaluation.');
    const row = z.object({ prompt: z.array(z.unknown()), chosen: z.unknown(), rejected: z.unknown() });
    expect(z.array(row).parse(await rowsOf(out)).length).toBeGreaterThan(0);
  });
});

describe('tandem export of a log that holds a secret', () => {
  const secret = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
  const data = path.join(folder, 'secret');
  const out = path.join(folder, 'secret.jsonl');
  const exporting = (...more: string[]): Promise<Ended> =>
    tandem('export', '--format', 'chat', '--data', data, out, ...more);

  beforeAll(async () => {
    const log = await TrajectoryLog.open(data);
    const [task] = (await loadTasks(starterPack)).tasks;
    await log.recordTask({ ...task!, description: `${task!.description} ${secret}` });
    await log.appendAll(dialogue('with-it', 1, { task: task!.id }));
    await log.close();
  });

  it('writes nothing, and lists what was found, masked, with the way out', async () => {
    const { code, stdout, stderr } = await exporting();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^row 1, dialogue with-it, outside of the turns: github token: .*ghp_•••$/m);
    expect(stdout).toMatch(/nothing was written\. Add --without-findings .* or --allow-findings/);
    expect(stdout + stderr).not.toContain(secret);
    expect(existsSync(out)).toBe(false);
  });

  it('leaves such dialogues out, or writes them, when it is told to', async () => {
    const { stdout } = await exporting('--without-findings');
    expect(stdout).toContain('Left out: 1 secret or e-mail address.');
    expect(await readFile(out, 'utf8')).toBe('');
    expect((await exporting('--allow-findings', '--overwrite')).code).toBe(0);
    expect(await readFile(out, 'utf8')).toContain(secret);
    expect((await exporting('--allow-findings', '--without-findings')).code).toBe(2);
  });
});
