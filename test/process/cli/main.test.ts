import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, tandem } from './tandem';

const { folder } = commandFolder();

const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string().min(1) }) });

describe('tandem', () => {
  it('lists its commands, and only those that exist', async () => {
    const { stdout, code } = await tandem('--help');
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}(\w+)(?:\|\w+)? (?:\[|<)/gm)].map((match) => match[1]);
    expect(commands.join(' ')).toBe(
      'tasks world specify download grade collect fork evaluate import export publish check erase leaderboard assign agreement ' +
        'simgap serve loop train curve runs track stop resume score rollouts onnx convert doctor mcp help',
    );
  });

  it.each([
    ['a command that does not exist', ['fly'], 2, 'usage'],
    ['a value that an option does not take', ['world', 'w.jsonl', '--tasks', 'many'], 2, 'usage'],
    [
      'a model that is none',
      ['collect', '--tasks', starterPack, '--agent', 'gpt', '--simulator', 'rules'],
      2,
      'model/bad-spec',
    ],
    ['a file that is not there', ['tasks', path.join(folder, 'nowhere.jsonl')], 1, 'task/no-file'],
  ])('refuses %s in one sentence and one JSON object', async (_, args, exit, code) => {
    const ended = await tandem(...args, '--json');
    expect(ended).toMatchObject({ code: exit });
    expect(errorSchema.parse(JSON.parse(ended.stdout)).error.code).toBe(code);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
  });
});
