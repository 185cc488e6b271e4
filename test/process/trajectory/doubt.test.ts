import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { NewEvent } from '../../../src/core/trajectory/event';
import {
  dialogue,
  doubling,
  leak,
  openLog,
  segmentFiles,
  takeSealsAway,
  temporaryFolder,
} from '../../fixtures/log';
import { python } from '../../fixtures/trainer';
import { seeded } from '../../unit/trajectory/random';

/** Python that prints, for each file of rows, the ids of the dialogues and the number of unusable rows. */
const READ = [
  'import json, sys',
  'from tandem_trainer.data.rows import read_rows',
  'reads = [read_rows([file]) for file in sys.argv[1:]]',
  'unused = [len(read.problems) + sum(read.left_out.values()) for read in reads]',
  'ids = [sorted(dialogue.id for dialogue in read.dialogues) for read in reads]',
  'print(json.dumps([{"ids": ids, "unused": unused} for ids, unused in zip(ids, unused)]))',
].join('\n');

const ROUNDS = 12;

describe('a log with lost lines', () => {
  it('gives the trainer what its fold calls whole: nothing damaged, doubtful, deleted or leaked', async () => {
    const random = seeded(8);
    const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;
    const folders = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const folder = await temporaryFolder();
      folders.push(folder);
      const logs = [await openLog(folder), await openLog(folder)];
      for (const log of logs) await log.recordTask(doubling);
      const ids = Array.from({ length: 12 }, (_, number) => `e${number}`);
      for (const id of ids) {
        await pick(logs).appendAll(dialogue(id, 1));
        for (const log of logs) await log.refresh();
        const episode = pick(ids);
        const event = pick<NewEvent>([
          { event: 'deleted', episode },
          { event: 'undeleted', episode },
          leak(episode, 1, 0.9, true),
        ]);
        if (pick(logs).summary(episode)) await pick(logs).append(event);
      }
      for (const log of logs) await log.close();
      if (round % 4 === 3) await takeSealsAway(folder);
      for (const file of await segmentFiles(folder)) await damage(file, random);
      await rm(join(folder, 'index'), { recursive: true, force: true });
      const later = await openLog(folder);
      await later.recordTask(doubling);
      await later.appendAll(dialogue('last', 1));
      await later.close();
      if (round === 7) await changeOlder(folder);
    }
    const [files, whole, reasons] = [[] as string[], [] as string[][], new Set<string>()];
    for (const folder of folders) {
      const run = await temporaryFolder();
      const prompts = resolve('trainer/tandem_trainer/data/prompts');
      const { left_out } = await prepareData({ log: folder }, run, { prompts });
      for (const reason of Object.keys(left_out)) reasons.add(reason);
      files.push(join(run, 'data', 'trajectories.jsonl'));
      whole.push(await wholeIn(folder));
    }
    const read: unknown = JSON.parse(await python(READ, ...files));
    expect(read).toEqual(whole.map((ids) => ({ ids, unused: 0 })));
    expect(reasons).toContain('doubtful');
    expect(reasons).toContain('damaged');
  });
});

/** Returns the dialogues that the fold allows for training. */
async function wholeIn(folder: string): Promise<string[]> {
  const log = await openLog(folder);
  const whole = [];
  for (const { id } of log.list({ offset: 0, limit: Number.POSITIVE_INFINITY }).rows) {
    const folded = await log.trajectory(id);
    if (folded?.state !== 'answered' || folded.damaged !== undefined || folded.doubtful !== undefined)
      continue;
    const isLeaked = folded.turns.some((turn) => turn.leak?.leaked === true);
    if (!isLeaked && folded.grades.length > 0) whole.push(id);
  }
  return whole.sort();
}

/** Changes the first segment, without check sums, after the last one recorded its content. */
async function changeOlder(folder: string): Promise<void> {
  const [file] = await segmentFiles(folder);
  await writeFile(file!, (await readFile(file!, 'utf8')).replace('"leaked":false', '"leaked":true '));
  await rm(join(folder, 'index'), { recursive: true });
}

/** Loses or changes about two lines of a segment. */
async function damage(file: string, random: () => number): Promise<void> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const changed = lines.flatMap((line) => {
    if (random() > 2 / lines.length || /"event":"(segment|task)"/.test(line)) return line;
    const at = Math.floor(random() * line.length);
    switch (Math.floor(random() * 4)) {
      case 0:
        return [];
      case 1:
        return `${line.slice(0, at)}~${line.slice(at + 1)}`;
      case 2:
        return `~${line.slice(1)}`;
      default:
        return `${line.slice(0, at)}\n${line.slice(at + 1)}`;
    }
  });
  await writeFile(file, `${changed.join('\n')}\n`);
  // The age of a segment's last lines is the file's, which must be older than later dialogues.
  const before = new Date(Date.now() - 1000);
  await utimes(file, before, before);
}
