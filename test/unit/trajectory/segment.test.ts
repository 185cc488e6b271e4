import { appendFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_VERSION, type NewEvent } from '../../../src/core/trajectory/event';
import { encodeEvent, peek } from '../../../src/core/trajectory/segment/line';
import { MAX_LINE_BYTES, scanLines, type Scanned } from '../../../src/core/trajectory/segment/scan';
import { answered, doubling, temporaryFolder } from '../../fixtures/log';
import { anyEvents, seeded } from './random';

function encode(event: NewEvent, at = '2026-03-04T05:06:07.089Z'): Buffer {
  return encodeEvent({ ...event, version: LOG_VERSION, at });
}

describe('a line', () => {
  it('is the event as JSON, and its front tells what it is', () => {
    const random = seeded(1);
    const events: NewEvent[] = [
      { event: 'task', task: doubling },
      { event: 'consent', pseudonym: 'kim', purpose: 'research' },
      ...Array.from({ length: 100 }, (_, number) => anyEvents(`e${number}`, random)).flat(),
    ];
    for (const event of events) {
      const line = encode(event);
      const at = '2026-03-04T05:06:07.089Z';
      expect(JSON.parse(line.toString())).toEqual({ ...event, version: LOG_VERSION, at });
      expect(line.indexOf('\n')).toBe(line.length - 1);
      // Somewhere in the middle of a buffer, as a scan finds it.
      const buffer = Buffer.concat([Buffer.from('before\n'), line, Buffer.from('{"version":1')]);
      expect(peek(buffer, 7, 7 + line.length - 1)).toMatchObject({
        kind: event.event,
        episode: 'episode' in event ? event.episode : undefined,
        at: Date.parse(at),
        turn: 'turn' in event ? event.turn : 0,
      });
    }
  });

  it('is parsed whole when its front is written in any other way', () => {
    const line = encode(answered('e1', 2)).toString().trimEnd();
    const others = [
      line.replace('"version":1', '"version":2'),
      line.replace('"version":1', '"version": 1'),
      line.replace('"answered"', '"applause"'),
      line.replace('"e1"', '"é1"'),
      line.replace('"e1"', String.raw`"\u00e91"`),
      line.replace('07.089Z', '07Z'),
      line.replace('07.089Z', '07.089+01:00'),
      line.slice(0, -1),
      line.slice(0, 40),
      line.slice(0, 10),
      '}',
    ];
    for (const other of others) {
      const bytes = Buffer.from(other);
      expect(peek(bytes, 0, bytes.length), other).toBeUndefined();
    }
  });
});

describe('scanning a segment', () => {
  async function scan(
    file: string,
    from = 0,
  ): Promise<Scanned & { lines: [number, string][]; long: number[] }> {
    const lines: [number, string][] = [];
    const long: number[] = [];
    const scanned = await scanLines(
      file,
      from,
      (buffer, start, end, offset) => lines.push([offset, buffer.toString('utf8', start, end)]),
      (offset) => long.push(offset),
    );
    return { ...scanned, lines, long };
  }

  it('gives each line with its offset, and says what stands after the last complete one', async () => {
    const file = join(await temporaryFolder(), 'segment');
    await writeFile(file, 'one\n\nthrée\nfour');
    expect(await scan(file)).toEqual({
      lines: [
        [0, 'one'],
        [4, ''],
        [5, 'thrée'],
      ],
      long: [],
      end: 12,
      tail: 4,
    });
    await appendFile(file, '!\nfive\n');
    expect(await scan(file, 12)).toMatchObject({
      lines: [
        [12, 'four!'],
        [18, 'five'],
      ],
      end: 23,
      tail: 0,
    });
  });

  it('puts lines together that are longer than what is read at once', async () => {
    const file = join(await temporaryFolder(), 'segment');
    const random = seeded(9);
    const lengths = Array.from({ length: 30 }, () => Math.floor(random() ** 4 * 12_000_000));
    const expected = lengths.map((length, index) => String.fromCharCode(97 + (index % 26)).repeat(length));
    await writeFile(file, expected.map((line) => `${line}\n`).join(''));
    const { lines, end } = await scan(file);
    expect(lines.map(([, line]) => line.length)).toEqual(lengths);
    expect(lines.every(([, line], index) => line === expected[index])).toBe(true);
    expect(end).toBe((await stat(file)).size);
  });

  it('passes over a line over the limit, also one that has no end yet', async () => {
    const file = join(await temporaryFolder(), 'segment');
    await writeFile(file, 'first\n');
    await truncate(file, 6 + MAX_LINE_BYTES + 1000);
    expect(await scan(file)).toMatchObject({
      lines: [[0, 'first']],
      long: [6],
      end: 6,
      tail: MAX_LINE_BYTES + 1000,
    });
    await appendFile(file, '\nlast\n');
    const ended = await scan(file);
    expect(ended.lines.map(([offset, line]) => [offset, line.length])).toEqual([
      [0, 5],
      [6, 0],
      [6 + MAX_LINE_BYTES + 1001, 4],
    ]);
    expect(ended).toMatchObject({ long: [6], tail: 0 });
  });
});
