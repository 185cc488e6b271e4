import { appendFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_LINE_BYTES, scanLines, type Scanned } from '../../../../src/core/trajectory/segment/reader';
import { temporaryFolder } from '../../../fixtures/log';
import { seeded } from '../random';

describe('scanning a segment', () => {
  async function scan(
    file: string,
    from = 0,
  ): Promise<Scanned & { lines: [number, string][]; long: number[] }> {
    const lines: [number, string][] = [];
    const long: number[] = [];
    const scanned = await scanLines(file, from, (line, offset) => lines.push([offset, line.toString()]), {
      onTooLong: (offset) => long.push(offset),
    });
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
