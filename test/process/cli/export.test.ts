import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { doubling, openLog, play, temporaryFolder } from '../../fixtures/log';
import { commandFolder, json, tandem } from './tandem';

const { folder } = commandFolder();

it('tandem export writes rows and their card, and tandem import adds them elsewhere just once', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await play(log, 'e1', 1);
  await log.close();
  const out = path.join(folder, 'rows.jsonl');
  const exported = z.object({ summary: z.object({ rows: z.number(), card: z.string() }) });
  const { summary } = await json(exported, 'export', '--format', 'trajectories', '--data', data, out);
  expect(summary.rows).toBe(1);
  expect(await readFile(summary.card, 'utf8')).toContain('openai:agent');
  const imported = z.object({ summary: z.object({ imported: z.number(), alreadyThere: z.number() }) });
  const into = ['import', out, '--data', path.join(folder, 'target')];
  expect((await json(imported, ...into)).summary).toMatchObject({ imported: 1, alreadyThere: 0 });
  expect((await json(imported, ...into)).summary).toMatchObject({ imported: 0, alreadyThere: 1 });
});

it('tandem export writes a secret only when it is allowed to, and shows none', async () => {
  const secret = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
  const data = await temporaryFolder();
  const out = path.join(folder, 'secret.jsonl');
  const log = await openLog(data);
  await play(log, 'with-it', 1, {}, { ...doubling, description: `${doubling.description} ${secret}` });
  await log.close();
  const exporting = ['export', '--format', 'chat', '--data', data, out];
  const { code, stdout, stderr } = await tandem(...exporting);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^row 1, dialogue with-it, .*ghp_•••$/m);
  expect(stdout + stderr).not.toContain(secret);
  expect(existsSync(out)).toBe(false);
  expect(await tandem(...exporting, '--allow-findings')).toMatchObject({ code: 0 });
  expect(await readFile(out, 'utf8')).toContain(secret);
});
