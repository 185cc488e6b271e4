import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLog, temporaryFolder } from '../../fixtures/log';
import { program } from './processes/start';

/*
 * A file size limit stands for a full disk: a write that exceeds it is cut short, and the next one fails. The limit
 * applies to each file, so a new segment has room again.
 */

describe('a write that fails', () => {
  const nearlyFull = program('fill', 'ulimit -f 8');
  const full = program('fill', 'ulimit -f 0');

  it('leaves no torn line and no empty segment, and loses nothing that was acknowledged', async () => {
    const folder = await temporaryFolder();
    const child = nearlyFull(folder);
    expect(await child.ended, child.errors()).toBe(0);
    const said = child.output.trimEnd().split('\n');
    const refused = said.filter((line) => line !== 'logged');
    expect(refused.length).toBeGreaterThan(3);
    for (const line of refused) {
      expect(line).toMatch(
        /^refused: The log in .* cannot be written: EFBIG.* Nothing of this step was logged\./,
      );
    }
    expect(said.filter((line) => line === 'logged')).toHaveLength(61);

    const log = await openLog(folder);
    expect(log.problems).toEqual([]);
    const turns = (await log.trajectory('e1'))!.turns.map(({ agent }) => [agent.turn, agent.text]);
    expect(turns).toEqual(Array.from({ length: 60 }, (_, index) => [index + 1, `${index + 1} `.repeat(300)]));
    const segments = (await readdir(join(folder, 'log'))).filter((name) => name.endsWith('.jsonl'));
    expect(segments).toHaveLength(refused.length + 1);
    for (const name of segments) {
      const lines = (await readFile(join(folder, 'log', name), 'utf8')).split('\n');
      expect(lines.length).toBeGreaterThan(2);
      expect(lines.at(-1)).toBe('');
    }
  });

  it('leaves nothing at all when there was no room from the beginning', async () => {
    const folder = await temporaryFolder();
    const child = full(folder);
    expect(await child.ended, child.errors()).toBe(0);
    expect(child.output.trimEnd().split('\n')).toHaveLength(3);
    expect(await readdir(join(folder, 'log'))).toEqual([]);
  });
});
