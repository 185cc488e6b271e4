import { mkdtempSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { play } from '../../fixtures/log';
import { starterPack } from '../../fixtures/dialogue';
import { doubling } from '../../fixtures/log-task';
import { taskRow, type Ended } from '../../fixtures/tasks';
import { tandem } from './tandem';

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-foreign-'));
const data = path.join(folder, '.tandem');
const RED = '\u001b[31m\u009b2J';

afterAll(() => rm(folder, { recursive: true, force: true }));

function expectShown({ stdout, stderr }: Ended): void {
  const all = stdout + stderr;
  expect(all).not.toMatch(/[^\P{Cc}\n\t]/u);
  expect(all).toContain(String.raw`\x1b[31m`);
}

describe('a name that would command the terminal is shown as text by', () => {
  const playing = ['--agent', RED, '--tasks', starterPack, '--simulator', 'rules', '--data', data];
  it.each([
    ['tasks', RED],
    ['world', '--tasks', '4', path.join(folder, RED, 'world.jsonl')],
    ['download', RED],
    ['grade', RED],
    ['collect', ...playing],
    ['evaluate', ...playing],
    ['import', RED, '--data', data],
    ['export', '--format', RED, path.join(folder, 'out.jsonl')],
    ['erase', RED, '--data', data],
    ['standing', `--${RED}`],
    ['loop', '--agent', RED],
    ['train', RED, '--data', data],
    ['runs', RED, '--data', data],
    ['stop', RED, '--data', data],
    ['resume', RED, '--data', data],
    ['score', '--critic', RED, RED],
    ['onnx', path.join(folder, RED)],
    ['convert', path.join(folder, RED), 'folder'],
    ['doctor', RED],
  ])('tandem %s', async (...args) => expectShown(await tandem(...args)));
});

describe('what stands in a file is shown as text:', () => {
  it('ids and bad lines of a pack', async () => {
    const pack = path.join(folder, 'pack.jsonl');
    const rows = [
      taskRow({ id: `a${RED}` }),
      taskRow({ id: `a${RED}` }),
      taskRow({ ground_truth: undefined }),
    ];
    await writeFile(pack, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expectShown(await tandem('tasks', pack, '--references'));
  });

  it('ids of graded answers', async () => {
    const answers = path.join(folder, 'answers.jsonl');
    await writeFile(answers, JSON.stringify({ id: `b${RED}`, task: taskRow(), answer: 'def f(): pass' }));
    expectShown(await tandem('grade', answers, '--jobs', '1'));
  });

  it('a dialogue that an export finds a secret in', async () => {
    const secret = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
    const log = await TrajectoryLog.open(data);
    await play(log, `c${RED}`, 1, {}, { ...doubling, description: `${doubling.description} ${secret}` });
    await log.close();
    const out = path.join(folder, 'out.jsonl');
    expectShown(await tandem('export', '--format', 'chat', '--data', data, out));
  });
});
