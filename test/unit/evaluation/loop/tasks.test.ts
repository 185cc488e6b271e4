import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { QUICK } from '../../../../src/core/evaluation/loop/settings';
import { drawTasks, loadPack, taskFiles } from '../../../../src/core/evaluation/loop/tasks';
import type { World } from '../../../../src/core/task/starter/splits';
import { written, taskRow } from '../../../fixtures/tasks';
import { temporaryFolder } from '../../../fixtures/log';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
});

const settings = { ...QUICK, trainTasks: 8, heldOutTasks: 4 };

const about = (id: string): string =>
  `I need the fee for parcel ${id}.\n\ndef parcel_fee(grams: int) -> int:`;

const pack = (name: string, ids: readonly string[]): Promise<string> =>
  written(
    folder,
    name,
    ids.map((id) => JSON.stringify(taskRow({ id, problem_description: about(id) }))).join('\n'),
  );

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, i) => `task-${from + i}`);

async function drawn(packs: readonly string[], seed = 0, world: World = 'functions') {
  const result = await drawTasks(folder, packs, { world, settings, seed });
  const ids = async (file: string): Promise<string[]> =>
    (await loadPack(path.join(folder, file))).map(({ task }) => task.id);
  return { result, train: await ids(taskFiles.train), heldOut: await ids(taskFiles.heldOut) };
}

describe('the tasks of a loop', () => {
  it('are web pages of two splits, or those of packs that have checks', async () => {
    const { train, heldOut, result } = await drawn([], 0, 'pages');
    expect(train.every((id) => id.startsWith('pages-train-'))).toBe(true);
    expect(heldOut.every((id) => id.startsWith('pages-development-'))).toBe(true);
    const page = { kind: 'page', ground_truth: '<html></html>' };
    const pack = path.join(folder, taskFiles.train);
    const text = await readFile(pack, 'utf8');
    const unchecked = JSON.stringify({ ...page, problem_description: 'No checks.' });
    const mixed = await written(folder, 'mixed.jsonl', `${text}${unchecked}\n`);
    const again = await drawn([mixed], 0, 'pages');
    expect(again.result).toMatchObject({ train: 6, heldOut: 2, badLines: 1 });
    expect([...again.train, ...again.heldOut].toSorted()).toEqual(train.toSorted());
    expect(result).toMatchObject({ train: 8, heldOut: 4, badLines: 0 });
  });

  it('come from two splits of the starter world when no pack is given', async () => {
    const { train, heldOut, result } = await drawn([]);
    expect(result).toMatchObject({ train: 8, heldOut: 4, badLines: 0 });
    expect(train.every((id) => id.startsWith('starter-train-'))).toBe(true);
    expect(heldOut.every((id) => id.startsWith('starter-development-'))).toBe(true);
  });

  it('are a fifth of a pack to measure on and others to learn from, up to as many as are wanted', async () => {
    const few = await drawn([await pack('few.jsonl', numbered(0, 10))]);
    expect([few.train.length, few.heldOut.length]).toEqual([8, 2]);
    const many = await drawn([await pack('many.jsonl', numbered(0, 50))]);
    expect([many.train.length, many.heldOut.length]).toEqual([8, 4]);
    expect(new Set([...many.train, ...many.heldOut]).size).toBe(12);
  });

  it('are learned from or measured on, not both, when a pack has them under two ids', async () => {
    const ids = numbered(0, 10);
    const rows = ids.flatMap((id) =>
      ['a', 'b'].map((copy) => {
        const description = about(id).replaceAll(' ', copy === 'a' ? ' ' : '  ');
        return JSON.stringify(taskRow({ id: `${copy}-${id}`, problem_description: description }));
      }),
    );
    const { train, heldOut } = await drawn([await written(folder, 'twice.jsonl', rows.join('\n'))]);
    const bare = (all: string[]): string[] => all.map((id) => id.slice(2));
    expect(heldOut).toHaveLength(4);
    expect(bare(train).filter((id) => bare(heldOut).includes(id))).toEqual([]);
  });
});
