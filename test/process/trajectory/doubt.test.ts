import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
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

/** Why the trainer leaves out dialogues of a log that it reads itself, and the ids of the others. */
const READ = [
  'import json, sys',
  'from tandem_trainer.data.trajectory_log import read_log',
  'reads = [read_log(folder) for folder in sys.argv[1:]]',
  'print(json.dumps([{"ids": sorted(each.id for each in read.dialogues), "leftOut": read.left_out} for read in reads]))',
].join('\n');

const ROUNDS = 12;

describe('a log with lost lines', () => {
  it('is the same to the trainer as to the editor: what is damaged, doubtful, deleted or leaked', async () => {
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
    const read = JSON.parse(await python(READ, ...folders)) as object[];
    const reasons = new Set<string>();
    for (const [round, folder] of folders.entries()) {
      const log = await openLog(folder);
      const file = join(await temporaryFolder(), 'rows.jsonl');
      const visible = (): string => '';
      const { leftOut } = await exportTrajectories(log, file, {
        ...{ format: 'trajectories', visible, staysHere: true },
      });
      const rows = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
      const ids = rows.map((row) => (JSON.parse(row) as { tandem: { episode: string } }).tandem.episode);
      expect({ ids: ids.sort(), leftOut }, `round ${round}`).toEqual(read[round]);
      for (const reason of Object.keys(leftOut)) reasons.add(reason);
    }
    expect(reasons).toContain('doubtful');
    expect(reasons).toContain('damaged');
  });
});

/** After the last segment noted what the first, which has no check sums, holds. */
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
  // Lines at the end are as old as the file, which is older than what is played later.
  const before = new Date(Date.now() - 1000);
  await utimes(file, before, before);
}
