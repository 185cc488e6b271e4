import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LogEvent, NewEvent } from '../../../src/core/trajectory/event';
import { encodeEvent, sealLine } from '../../../src/core/trajectory/segment/line';
import { exported } from './exported';
import {
  agentTurn,
  answered,
  candidates,
  choice,
  dialogue,
  doubling,
  graded,
  kim,
  leak,
  openLog,
  play,
  reply,
  segmentFiles,
  started,
  takeSealsAway,
  temporaryFolder,
  verdict,
} from '../../fixtures/log';

/** One event of every kind, and then a dialogue that is not damaged. */
const everyKind: readonly NewEvent[] = [
  { event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' },
  started('e1', { collaborator: kim }),
  candidates('e1', 1),
  choice('e1', 1, 0),
  agentTurn('e1', 1),
  { event: 'turn-superseded', episode: 'e1', turn: 1 },
  agentTurn('e1', 1),
  { event: 'turn-rating', episode: 'e1', turn: 1, thumb: 'up', by: 'kim' },
  reply('e1', 1, kim),
  leak('e1', 1, 0.9, true),
  { event: 'hand-over', episode: 'e1', turn: 1, to: kim },
  { event: 'abandoned', episode: 'e1', reason: 'failed', message: 'No server.' },
  { event: 'resumed', episode: 'e1' },
  agentTurn('e1', 2),
  verdict('e1', 1, true),
  answered('e1', 2),
  graded('e1', 1),
  { event: 'rating', episode: 'e1', stars: 3, by: 'kim' },
  { event: 'outcome', episode: 'e1', outcome: 'accepted', by: 'kim' },
  { event: 'deleted', episode: 'e1' },
  { event: 'undeleted', episode: 'e1' },
  { event: 'lines-lost', episode: 'e1', reason: 'A repair lost them.' },
  ...dialogue('e2', 1),
];

async function written(folder: string, events = everyKind): Promise<{ file: string; lines: string[] }> {
  const log = await openLog(folder);
  await log.recordTask(doubling);
  await log.appendAll(events);
  await log.close();
  await rm(join(folder, 'index'), { recursive: true });
  const [file] = await segmentFiles(folder);
  return { file: file!, lines: (await readFile(file!, 'utf8')).trimEnd().split('\n') };
}

const kindOf = (line: string): string => (JSON.parse(line) as LogEvent).event;

async function reasons(folder: string): Promise<string[]> {
  const log = await openLog(folder);
  await log.close();
  await rm(join(folder, 'index'), { recursive: true, force: true });
  return log.problems.map(({ line, reason }) => `${line}: ${reason}`);
}

describe('a line', () => {
  it('has the check sum that older logs have', () => {
    const event = { version: 1, event: 'deleted', episode: 'größe', at: '2026-03-04T05:06:07.089Z' } as const;
    expect(sealLine(encodeEvent(event), 12).toString()).toBe(
      '{"version":1,"event":"deleted","episode":"größe","at":"2026-03-04T05:06:07.089Z","number":12,"sum":"ae7b0dbd"}\n',
    );
  });

  it('that is lost is missed, whatever its kind', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder);
    expect(await reasons(folder)).toEqual([]);
    for (const [index, line] of lines.slice(0, -1).entries()) {
      await writeFile(file, [...lines.slice(0, index), ...lines.slice(index + 1), ''].join('\n'));
      expect(await reasons(folder), kindOf(line)).toEqual([
        `${index + 1}: 1 line is missing before this one, which has number ${index + 2}: the last one before it that can be read has ${index === 0 ? 'none' : `number ${index}`}.`,
      ]);
    }
  });

  it('that was changed is named and passed over, whatever its kind, and what follows is read', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder);
    for (const [index, line] of lines.entries()) {
      const changed = line.replace(/"at":"..../, '"at":"1999');
      await writeFile(file, [...lines.slice(0, index), changed, ...lines.slice(index + 1), ''].join('\n'));
      expect(await reasons(folder)).toEqual([
        `${index + 1}: The ${kindOf(line)} event was changed after it was written: its check sum is wrong. It is passed over.`,
      ]);
    }
  });

  it('that is moved, doubled or without its check sum is passed over', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder);
    const [first, second, third, ...rest] = lines as [string, string, string, ...string[]];
    await writeFile(file, [first, third, second, ...rest, ''].join('\n'));
    expect(await reasons(folder)).toEqual([
      expect.stringMatching(/^2: 1 line is missing before this one, which has number 3/),
      '3: The task event stands in a wrong place, or for a second time: it has number 2 after number 3. It is passed over.',
    ]);
    await writeFile(file, [...lines, lines.at(-1), ''].join('\n'));
    expect(await reasons(folder)).toEqual([expect.stringContaining('or for a second time')]);
    await writeFile(file, [...lines, third.replace(/,"number".*/, '}'), ''].join('\n'));
    expect(await reasons(folder)).toEqual([expect.stringContaining('The consent event has no check sum')]);
  });

  it('of an older Tandem has neither, and is read as before', async () => {
    const folder = await temporaryFolder();
    await written(folder);
    await takeSealsAway(folder);
    const log = await openLog(folder);
    expect(log.problems).toEqual([]);
    expect((await log.trajectory('e1'))?.turns).toHaveLength(2);
    // The log continues in a new segment, whose lines have both.
    await play(log, 'e3', 1);
    expect((await openLog(folder)).problems).toEqual([]);
  });

  it('that was erased is not missed, one that was lost before is', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder, [
      ...dialogue('e1', 1, { collaborator: kim }),
      ...dialogue('e2', 1),
    ]);
    const first = await openLog(folder);
    expect((await first.eraseDeveloper('kim')).episodes).toBe(1);
    await first.close();
    expect(await reasons(folder)).toEqual([]);
    expect((await openLog(folder)).list({ offset: 0, limit: 9 }).rows.map(({ id }) => id)).toEqual(['e2']);
    await writeFile(file, [...lines.slice(0, 11), ...lines.slice(12), ''].join('\n'));
    const second = await openLog(folder);
    await second.eraseDeveloper('kim');
    await second.close();
    expect(await reasons(folder)).toEqual([expect.stringContaining('1 line is missing')]);
  });
});

describe('a dialogue with a lost or changed line', () => {
  it('is not exported as if its agent had spoken twice', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder, [...dialogue('e1', 1), ...dialogue('e2', 1)]);
    const lost = lines.findIndex((line) => kindOf(line) === 'reply');
    await writeFile(file, [...lines.slice(0, lost), ...lines.slice(lost + 1), ''].join('\n'));
    for (const older of [false, true]) {
      if (older) await takeSealsAway(folder);
      const log = await openLog(folder);
      expect((await log.trajectory('e1'))?.damaged).toBe('The reply to turn 1 is missing from the log.');
      expect(await exported(log)).toMatchObject({ ids: ['e2'], leftOut: { damaged: 1 } });
    }
  });

  it('is not exported as one without a leak when the line that told of it cannot be read', async () => {
    const folder = await temporaryFolder();
    const [start, turn, answer, , ...rest] = dialogue('e1', 1) as [NewEvent, NewEvent, NewEvent, NewEvent];
    const { file, lines } = await written(folder, [start, turn, answer, leak('e1', 1, 0.9, true), ...rest]);
    await writeFile(file, `${lines.join('\n').replace('"leaked":true', '"leaked":tru3')}\n`);
    const log = await openLog(folder);
    expect((await log.trajectory('e1'))?.damaged).toContain('its check sum is wrong');
    expect(await exported(log)).toMatchObject({ ids: [], leftOut: { damaged: 1 } });
  });
});

describe('one bad byte', () => {
  it('costs one event at most, wherever it is', async () => {
    const folder = await temporaryFolder();
    const { file, lines } = await written(folder);
    const intact = await readFile(file);
    const kindsRead = async (): Promise<number> => {
      const log = await openLog(folder);
      await log.close();
      await rm(join(folder, 'index'), { recursive: true, force: true });
      return log.problems.length;
    };
    for (let position = 0; position < intact.length; position += 127) {
      for (const byte of [0x00, 0x0a, 0xff, intact[position]! ^ 1]) {
        const damaged = Buffer.from(intact);
        damaged[position] = byte;
        if (damaged.equals(intact)) continue;
        await writeFile(file, damaged);
        expect(await kindsRead()).toBeLessThanOrEqual(2); // a line feed makes two halves of one event
      }
    }
    expect(lines.length).toBe(31);
  });

  it('in a task costs its dialogues, not the export', async () => {
    for (const older of [false, true]) {
      const folder = await temporaryFolder();
      await written(folder, dialogue('e1', 1, { collection: 'c', rollout: 0 }));
      const other = { ...doubling, id: 'other' };
      const writer = await openLog(folder);
      await play(writer, 'e2', 1, { task: 'other' }, other);
      await writer.close();
      const [first] = await segmentFiles(folder);
      await damageTask(first!);
      if (older) await takeSealsAway(folder);
      const log = await openLog(folder);
      expect(log.collected('c').get('doubling#0')).toMatchObject({ damaged: true });
      expect(await exported(log)).toMatchObject({ ids: ['e2'], leftOut: { damaged: 1 } });
      await expect(log.trajectory('e1')).rejects.toThrow(
        'The log holds episode e1 but not its task doubling: the line of the task is damaged',
      );
    }
  });

  it('in a task does not let another task of the same name stand for it unnoticed', async () => {
    const folder = await temporaryFolder();
    await written(folder, dialogue('e1', 1));
    const writer = await openLog(folder);
    await play(writer, 'e2', 1, {}, { ...doubling, description: 'Double it.' });
    await writer.close();
    const again = await openLog(folder);
    await play(again, 'e3', 1, {}, { ...doubling, description: 'Double it twice.' });
    await again.close();
    await damageTask((await segmentFiles(folder))[0]!);
    const log = await openLog(folder);
    expect((await log.trajectory('e1'))?.damaged).toContain('elsewhere the log has different ones');
    expect(await exported(log)).toMatchObject({ ids: ['e2', 'e3'], leftOut: { damaged: 1 } });
  });
});

async function damageTask(file: string): Promise<void> {
  const text = await readFile(file, 'utf8');
  await writeFile(file, text.replace('"description":', '"description";'));
}
