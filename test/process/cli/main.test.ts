import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { starterPack } from '../../fixtures/dialogue';
import { commandFolder, demonstration, json, tandem } from './tandem';

const { folder, play } = commandFolder();

describe('tandem', () => {
  it('lists its commands, and only those that exist', async () => {
    const { stdout, code } = await tandem('--help');
    expect(code).toBe(0);
    const commands = [...stdout.matchAll(/^ {2}(\w+)(?:\|\w+)? (?:\[|<)/gm)].map((match) => match[1]);
    expect(commands).toEqual([
      'tasks',
      'world',
      'download',
      'grade',
      'collect',
      'evaluate',
      'import',
      'export',
      'publish',
      'check',
      'erase',
      'leaderboard',
      'assign',
      'agreement',
      'serve',
      'loop',
      'train',
      'runs',
      'track',
      'stop',
      'resume',
      'score',
      'onnx',
      'convert',
      'doctor',
      'mcp',
      'help',
    ]);
  });

  it.each([
    [['fly'], 'unknown command'],
    [['track', 'x'], 'Give --tensorboard <folder> or --trackio <project>.'],
    [['track', 'x', '--data', folder, '--trackio', 'p'], 'no run'],
    [['tasks'], "missing required argument 'file'"],
    [['collect', '--tasks', starterPack, '--simulator', 'rules'], "required option '--agent <model>'"],
    [['evaluate', ...play('x', '--agent', demonstration)], 'The same agent is named twice'],
    [
      ['collect', ...play('x', '--rollouts', 'many')],
      '--rollouts takes a whole number of at least 1, not "many"',
    ],
    [['collect', ...play('x', '--top-p', '0')], '--top-p takes a number above 0 and at most 1, not "0"'],
    [['evaluate', ...play('x', '--top-k', '0')], '--top-k takes a whole number of at least 1, not "0"'],
    [['collect', '--tasks', starterPack, '--agent', 'gpt', '--simulator', 'rules'], '"gpt" is not a model'],
    [['grade', 'rows.jsonl', '--mode', 'kind'], 'Allowed choices are fixed, paper'],
    [['doctor', '--storage', folder], 'give its address with --cluster'],
    [['erase', 'ada'], 'This cannot be undone; add --yes'],
    [['download', 'everything'], 'There is no "everything" to download'],
  ])('says what is wrong with %j and exits with 2', async (args, sentence) => {
    const { code, stdout, stderr } = await tandem(...args);
    expect(stderr).toContain(sentence);
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  it.each([
    [['fly']],
    [['tasks']],
    [['collect', ...play('x', '--rollouts', 'many')]],
    [['tasks', 'nowhere.jsonl']],
  ])('says it as one JSON object too, for %j --json', async (args) => {
    const { error } = await json(
      z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
      ...args,
    );
    expect(error.message).not.toBe('');
  });

  it.each([
    [['collect', ...play('x'), '--data', starterPack], 'written-by-hand.jsonl'],
    [['import', 'nowhere.jsonl', '--data', path.join(folder, 'x')], 'nowhere.jsonl'],
    [['export', '--format', 'chat', folder], 'is there already; add --overwrite'],
    [['collect', ...play('x'), '--prompts', path.join(folder, 'no-prompts')], 'no-prompts'],
  ])('gives one sentence and no stack trace for %j', async (args, sentence) => {
    const { code, stderr } = await tandem(...args);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(code).not.toBe(0);
  });

  it('exits with 1 and one sentence when a file is not there', async () => {
    const { code, stderr } = await tandem('tasks', path.join(folder, 'nowhere.jsonl'));
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stderr).toContain('nowhere.jsonl');
    expect(code).toBe(1);
  });
});
