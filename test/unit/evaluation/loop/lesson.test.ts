import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { beginLesson, keepLesson, lastLesson } from '../../../../src/core/evaluation/loop/lesson';
import { temporaryFolder } from '../../../fixtures/log';

describe('the lessons of a data folder', () => {
  it('are numbered, each with tasks of its own, and the last one is found again as it was left', async () => {
    const folder = await temporaryFolder();
    expect(await lastLesson(folder)).toBeUndefined();
    const first = await beginLesson(folder, { agent: 'starter', world: 'functions', size: 'standard' });
    expect(first).toMatchObject({ number: 1, seed: 0, isWanted: true });
    await keepLesson({ ...first, isWanted: false });
    expect(await lastLesson(folder)).toMatchObject({ number: 1, agent: 'starter', isWanted: false });
    const second = await beginLesson(folder, {
      ...{ agent: 'local:.tandem/runs/1/model', world: 'pages', size: 'brief' },
    });
    expect(second).toMatchObject({ number: 2, seed: 1 });
    expect(await lastLesson(folder)).toEqual(second);
  });

  it('are told in a sentence when their file is damaged', async () => {
    const folder = await temporaryFolder();
    await mkdir(path.join(folder, 'teaching', '1'), { recursive: true });
    await writeFile(path.join(folder, 'teaching', '1', 'lesson.json'), '{');
    await expect(lastLesson(folder)).rejects.toThrow(/lesson\.json cannot be read .* Delete it/);
  });
});
