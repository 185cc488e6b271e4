import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openLog, play, temporaryFolder } from '../../fixtures/log';
import { PublishingHub } from '../../fixtures/publishing-hub';
import { tandem } from './tandem';

it('tandem publish puts exported rows on the hub, privately, with their card, and nothing without a yes or with a secret', async () => {
  vi.stubEnv('HF_TOKEN', 'hf_ada');
  const hub = await PublishingHub.start();
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await hub.close();
  });
  const data = await temporaryFolder();
  const log = await openLog(data);
  await play(log, 'e1', 1);
  await log.close();
  const file = path.join(data, 'rows.jsonl');
  expect(await tandem('export', '--format', 'chat', '--data', data, file)).toMatchObject({ code: 0 });
  const publish = (...more: string[]) => tandem('publish', file, 'ada/rows', '--hub', hub.url, ...more);

  const unasked = await publish();
  expect(unasked.code).toBe(2);
  expect(unasked.stderr).toMatch(/README\.md {2}[\d,]+ bytes\n/);
  const rows = await readFile(file, 'utf8');
  await writeFile(file, `${rows}{"messages":["ask ada@lab.org"]}\n`);
  const found = await publish('--yes');
  expect(found.code).toBe(1);
  expect(found.stderr).toMatch(/rows\.jsonl, line 2: e-mail address: /);
  expect(hub.requests).toEqual([]);

  await writeFile(file, rows);
  const { code, stdout, stderr } = await publish('--yes', '--json');
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('hf_ada');
  expect(JSON.parse(stdout)).toMatchObject({ summary: { kind: 'dataset', files: 2, isPrivate: true } });
  const { 'rows.jsonl': sent, 'README.md': card, ...others } = hub.files('datasets/ada/rows');
  expect(others).toEqual({});
  expect(sent).toBe(rows);
  expect(card).toMatch(/data_files: "rows\.jsonl"/);
});
