import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { commandFolder, tandem } from './tandem';

const { folder, play } = commandFolder();

describe('tandem check', () => {
  it('says what is wrong with a log, and writes what can be saved beside it', async () => {
    const data = path.join(folder, 'check');
    await tandem('collect', ...play('check'));
    const good = await tandem('check', data);
    expect(good).toMatchObject({ code: 0 });
    expect(good.stdout).toMatch(
      /^The log of .* has 6 dialogues in \d+ lines of 1 file\.\nEvery line of the log is as/,
    );
    const [name] = (await readdir(path.join(data, 'log'))).filter((each) => each.endsWith('.jsonl'));
    const file = path.join(data, 'log', name!);
    const damaged = (await readFile(file, 'utf8')).replace('"event":"answered"', '"event":"Answered"');
    await writeFile(file, damaged);
    const bad = await tandem('check', data);
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stdout).toContain('was changed after it was written: its check sum is wrong.');
    expect(bad.stdout).toContain(
      `Add --repair to write what can be saved into ${data}-repaired; ${data} stays`,
    );
    const repaired = await tandem('check', data, '--repair');
    expect(repaired).toMatchObject({ code: 0 });
    expect(repaired.stdout).toContain(`saved into ${data}-repaired, 1 line lost. ${data} is as it was.`);
    expect(await readFile(file, 'utf8')).toBe(damaged);
    expect(await tandem('check', data, '--repair')).toMatchObject({ code: 2 });
    await rm(`${data}-repaired`, { recursive: true });
    // A deletion whose dialogue is unknown.
    const log = await TrajectoryLog.open(data);
    await log.delete([log.list({ offset: 0, limit: 1 }).rows[0]!.id]);
    await log.close();
    const [, second] = (await readdir(path.join(data, 'log'))).filter((each) => each.endsWith('.jsonl'));
    const last = path.join(data, 'log', second!);
    await writeFile(last, (await readFile(last, 'utf8')).replace('{"version":1,"event":"deleted"', '{'));
    const out = path.join(folder, 'doubtful.jsonl');
    const exporting = await tandem('export', out, '--format', 'chat', '--data', data);
    expect(exporting.stdout).toMatch(/5 dialogues are left out as doubtful: .*; --with-doubtful takes/);
    expect(
      (await tandem('export', out, '--format', 'chat', '--data', data, '--with-doubtful', '--overwrite'))
        .code,
    ).toBe(0);
    const doubtful = await tandem('check', data);
    expect(doubtful.stdout).toContain('5 dialogues are left out as doubtful');
    expect(await tandem('check', data, '--accept-loss')).toMatchObject({ code: 2 });
    expect(await tandem('check', data, '--repair', '--accept-loss')).toMatchObject({ code: 0 });
    expect((await tandem('check', `${data}-repaired`)).stdout).not.toContain('doubtful');
    expect(await tandem('check', folder)).toMatchObject({ code: 2 });
  });
});
