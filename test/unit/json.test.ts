import { mkdtemp, rm, writeFile, cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../src/core/fault';
import { ChatFiles } from '../../src/core/model/local/chat';
import { readLocalFolder } from '../../src/core/model/local/folder';
import { readJsonLines, type JsonLine } from '../../src/core/task/jsonl';
import { readTasks } from '../../src/core/task/pack';
import { readConfiguration } from '../../src/core/training/configuration';
import { parseEvent } from '../../src/core/training/eventFile';
import { readEvent } from '../../src/core/trajectory/segment/line';
import { parsePublishedRow } from '../../src/core/trajectory/publishedRow';
import { taskRow } from '../fixtures/tasks';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tandem-nesting-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function fileOf(text: string, name = 'file.json'): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

/** Returns the sentence of the refusal. */
function refused(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return '';
}

/** Returns the JSON with `inner` in place of the string "HERE". */
const having = (value: unknown, inner: string): string => JSON.stringify(value).replace('"HERE"', inner);

const at = '2026-01-01T00:00:00.000Z';
const turn = {
  event: 'agent-turn',
  version: 1,
  at,
  episode: 'e',
  turn: 1,
  text: 't',
  finishReason: 'stop',
  model: 'm',
};

describe.each([10_000, 1_000_000])('what is nested %i levels deep', (levels) => {
  const lists = '['.repeat(levels) + ']'.repeat(levels);
  const objects = '{"a":'.repeat(levels) + '0' + '}'.repeat(levels);

  it.each([lists, objects])(
    'is a bad line of a pack, of answers or of rows, and the others are read',
    async (deep) => {
      const rows = [
        taskRow({ id: 'one' }),
        { ...taskRow({ id: 'two' }), facts: 'HERE' },
        taskRow({ id: 'three' }),
      ];
      const file = await fileOf(rows.map((row) => having(row, deep)).join('\n'));
      const lines = await Array.fromAsync<JsonLine>(readJsonLines(file));
      expect(lines.map((line) => ('reason' in line ? line.reason : 'read'))).toEqual([
        'read',
        'The line is nested too deeply.',
        'read',
      ]);
      const tasks = await Array.fromAsync(readTasks(file));
      expect(tasks.map((read) => ('task' in read ? read.task.id : read.bad.line))).toEqual([
        'one',
        2,
        'three',
      ]);
    },
  );

  it('is no task in a published row', () => {
    const row = { task: 'HERE', dialogue_history: [{ role: 'agent', content: 'a' }], answer: 'x' };
    expect(refused(() => parsePublishedRow(JSON.parse(having(row, JSON.stringify(lists)))))).toBe(
      'The task is nested too deeply.',
    );
  });

  it('is no configuration', async () => {
    const file = await fileOf(having({ data: { preferences: 'HERE' }, method: 'dpo' }, objects));
    await expect(readConfiguration(file)).rejects.toThrow(`${file} is nested too deeply`);
  });

  it('is no event of a run', () => {
    expect(parseEvent(having({ event: 'plan', version: 1, at, memory: 'HERE' }, objects))).toBeUndefined();
    expect(parseEvent(having({ event: 'new', version: 9, at, of: 'HERE' }, lists))).toBeUndefined();
  });

  it('is passed over in the log', () => {
    const input = having({ ...turn, imported: { content: 'c', input: 'HERE' } }, lists);
    expect(readEvent(Buffer.from(input))).toMatchObject({
      reason: 'The agent-turn event is passed over: imported.input: it is nested too deeply.',
    });
    const aside = readEvent(Buffer.from(having({ ...turn, newer: 'HERE' }, objects)));
    expect(aside).toMatchObject({ event: { text: 't' } });
    expect(JSON.stringify(aside)).not.toContain('newer');
  });

  it.each(['config.json', 'tokenizer_config.json', 'tokenizer.json'])('is no %s of a model', async (name) => {
    const model = await mkdtemp(path.join(folder, 'model-'));
    await cp('media/starter', model, { recursive: true });
    await writeFile(path.join(model, name), objects);
    expect(refused(() => [readLocalFolder(model), new ChatFiles(model)])).toBe(
      `${path.join(model, name)} cannot be used: it is nested too deeply. Copy or export the model again.`,
    );
    await writeFile(path.join(model, 'tokenizer.json'), '{}');
    await writeFile(
      path.join(model, 'chat_template.jinja'),
      `{{ ${'('.repeat(levels)}1${')'.repeat(levels)} }}`,
    );
    expect(refused(() => new ChatFiles(model))).toMatch(/cannot be used/);
  });
});
