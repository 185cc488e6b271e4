import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { starterPack } from '../../fixtures/dialogue';
import { temporaryFolder } from '../../fixtures/log';
import { PublishingHub } from '../../fixtures/publishing-hub';
import { runNode } from '../../fixtures/tasks';

const agent = `script:${path.resolve('samples/workspace/agents/asks-first.json')}`;

beforeEach(() => vi.stubEnv('HF_TOKEN', 'hf_ada'));
afterEach(() => vi.unstubAllEnvs());

const tandem = (...args: readonly string[]) => runNode(['dist/tandem.js', ...args]);

async function hub(): Promise<PublishingHub> {
  const started = await PublishingHub.start();
  onTestFinished(() => started.close());
  return started;
}

/** Plays two dialogues and exports them. */
async function rows(): Promise<string> {
  const folder = await temporaryFolder();
  vi.stubEnv('TANDEM_CACHE', path.join(folder, 'cache'));
  const data = path.join(folder, 'data');
  const played = await tandem(
    ...['collect', '--tasks', starterPack, '--limit', '2', '--agent', agent, '--simulator', 'rules'],
    ...['--data', data, '--jobs', '1'],
  );
  expect(played).toMatchObject({ code: 0 });
  const out = path.join(folder, 'rows.jsonl');
  expect(await tandem('export', '--format', 'chat', '--data', data, out)).toMatchObject({ code: 0 });
  return out;
}

it('tandem publish puts exported rows on the hub, privately, with their card', async () => {
  const [to, file] = [await hub(), await rows()];
  const { code, stdout, stderr } = await tandem('publish', file, 'ada/rows', '--hub', to.url, '--yes');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Published: ${to.url}/datasets/ada/rows, commit ${'1'.padStart(40, '0')}, which only its owner can read.\n`,
  });
  expect(stdout + stderr).not.toContain('hf_ada');
  const { 'rows.jsonl': sent, 'README.md': card, ...others } = to.files('datasets/ada/rows');
  expect(others).toEqual({});
  expect(sent).toBe(await readFile(file, 'utf8'));
  expect(card).toMatch(/data_files: "rows\.jsonl"/);

  const again = await tandem('publish', file, 'ada/rows', '--hub', to.url, '--yes', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ summary: { kind: 'dataset', files: 2, isPrivate: true } });
});

it('tandem publish lists the files and sends nothing without a yes, nor with a secret in a row', async () => {
  const [to, file] = [await hub(), await rows()];
  const unasked = await tandem('publish', file, 'ada/rows', '--hub', to.url);
  expect(unasked).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/README\.md {2}[\d,]+ bytes\n.*add --yes/s) as string,
  });

  await writeFile(file, `${await readFile(file, 'utf8')}{"messages":["ask ada@lab.org"]}\n`);
  const found = await tandem('publish', file, 'ada/rows', '--hub', to.url, '--yes');
  expect(found).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /rows\.jsonl, line 3: e-mail address: .*\n.*there is 1 secret or e-mail address/s,
    ) as string,
  });
  expect(to.requests).toEqual([]);

  const allowed = await tandem('publish', file, 'ada/rows', '--hub', to.url, '--yes', '--allow-findings');
  expect(allowed).toMatchObject({ code: 0 });
});
