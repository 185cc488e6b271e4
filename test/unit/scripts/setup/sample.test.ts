import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refreshSample } from '../../../../scripts/setup/sample.mjs';

let folder: string;
let shipped: string;
let workspace: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-sample-'));
  shipped = path.join(folder, 'shipped');
  workspace = path.join(folder, 'workspace');
  await mkdir(path.join(shipped, 'agents'), { recursive: true });
  await writeFile(path.join(shipped, 'pack.jsonl'), 'first edition');
  await writeFile(path.join(shipped, 'agents', 'demo.json'), '{}');
  refreshSample(shipped, workspace);
});
afterEach(() => rm(folder, { recursive: true }));

const inWorkspace = (name: string) => path.join(workspace, name);
const read = (name: string) => readFile(inWorkspace(name), 'utf8');

test('a shipped file that the user did not change follows the repository', async () => {
  await writeFile(path.join(shipped, 'pack.jsonl'), 'second edition');
  refreshSample(shipped, workspace);
  expect(await read('pack.jsonl')).toBe('second edition');
});

test('a shipped file that the user changed stays as it is', async () => {
  await writeFile(inWorkspace('pack.jsonl'), 'my edition');
  await writeFile(path.join(shipped, 'pack.jsonl'), 'second edition');
  refreshSample(shipped, workspace);
  expect(await read('pack.jsonl')).toBe('my edition');
});

test('what the user made is never touched, not even where a shipped file of that name arrives', async () => {
  await mkdir(inWorkspace('.tandem/log'), { recursive: true });
  await writeFile(inWorkspace('.tandem/log/segment.jsonl'), 'a dialogue');
  await writeFile(inWorkspace('mine.jsonl'), 'my pack');
  await writeFile(path.join(shipped, 'mine.jsonl'), 'shipped later');
  refreshSample(shipped, workspace);
  expect(await read('.tandem/log/segment.jsonl')).toBe('a dialogue');
  expect(await read('mine.jsonl')).toBe('my pack');
});
