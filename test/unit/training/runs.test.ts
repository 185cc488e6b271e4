import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runInFull, runTable } from '../../../src/cli/runWords';
import { changeNotes, readNotes } from '../../../src/core/training/runNotes';
import { Runs } from '../../../src/core/training/runs';
import { temporaryFolder } from '../../fixtures/log';
import { goOnWithZeros, hasPipes, putPipe } from '../../fixtures/oddFiles';

let runs: Runs;
let folder: string;
const configuration = JSON.stringify({ name: 'as configured', model: { base: 'owner/model' } });

beforeEach(async () => {
  runs = new Runs(await temporaryFolder());
  folder = path.join(runs.folder, 'a');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'run.json'), configuration);
});

describe('what a person writes about a run', () => {
  it('is kept beside its configuration, which stays as it is', async () => {
    await changeNotes(folder, () => ({ name: ' more\nNLL ', tags: ['baseline', 'seed 2', 'baseline', ' '] }));
    await changeNotes(folder, ({ tags }) => ({ note: 'Half the rate.', tags: tags.slice(0, 2) }));
    const run = await runs.find('a');
    expect(run).toMatchObject({ name: 'more NLL', tags: ['baseline', 'seed 2'], note: 'Half the rate.' });
    expect(await readFile(path.join(folder, 'run.json'), 'utf8')).toBe(configuration);
    expect(runInFull(run, [])).toContain('a (more NLL): ');
    expect(runInFull(run, [])).toContain('Tags: baseline, seed 2.\nNote: Half the rate.');
    const table = runTable([run], () => undefined);
    expect(table.split('\n')[0]).toMatch(/left +success +method +name +tags/);
    expect(table).toMatch(/sweet-rl +more NLL +baseline, seed 2/);
  });

  it('is not written over what cannot be read, nor into a folder that is gone', async () => {
    const file = path.join(folder, 'notes.json');
    await writeFile(file, '{"name": "half');
    expect(await readNotes(folder)).toEqual({ name: '', tags: [], note: '' });
    await expect(changeNotes(folder, () => ({ name: 'new' }))).rejects.toMatchObject({
      code: 'training/bad-notes',
      message: `${file} holds no notes that can be read, and writing would lose what is in it. Fix it, or remove it.`,
    });
    expect(await readFile(file, 'utf8')).toBe('{"name": "half');
    await rm(folder, { recursive: true });
    await expect(changeNotes(folder, () => ({ name: 'new' }))).rejects.toMatchObject({
      code: 'training/unknown-run',
    });
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});

it('tells the commit of a base on the hub with which its trainer began', async () => {
  const commit = 'c0ffee'.padEnd(40, '0');
  const begun = (of: string | null): Promise<void> =>
    writeFile(path.join(folder, 'configuration.json'), JSON.stringify({ version: 1, commit: of }));
  await begun(null); // its base is a folder
  expect((await runs.find('a')).commit).toBeUndefined();
  await begun(commit);
  const found = await runs.find('a');
  expect(found.commit).toBe(commit);
  expect(runInFull(found, [])).toContain(`sweet-rl on owner/model at commit ${commit}; folder ${folder}`);
});

describe.runIf(hasPipes)('a run with a pipe in its folder', () => {
  it.each(['run.json', 'events.jsonl', 'launch.json', 'notes.json', 'data/selection.json'])(
    'is listed with the reason when it is %s, beside the others',
    async (name) => {
      await mkdir(path.join(runs.folder, 'b'));
      await writeFile(path.join(runs.folder, 'b', 'run.json'), configuration);
      await mkdir(path.join(folder, 'data'));
      await putPipe(path.join(folder, name));
      const reason = expect.stringContaining(`${path.join(folder, name)} is a pipe`) as string;
      expect(await runs.list()).toMatchObject([
        { id: 'b', state: 'stopped' },
        { id: 'a', state: 'failed', canResume: false, message: reason },
      ]);
    },
  );

  it('ends the following of its events', async () => {
    await putPipe(path.join(folder, 'events.jsonl'));
    await expect(runs.follow('a').next()).rejects.toMatchObject({ code: 'file/not-regular' });
  });
});

it('reads no events file to an end that does not come', async () => {
  const line = { version: 1, at: '2026-01-01T00:00:00Z', event: 'state', state: 'running', stage: 'critic' };
  await goOnWithZeros(path.join(folder, 'events.jsonl'), `${JSON.stringify(line)}\n`);
  expect(await runs.list()).toMatchObject([{ id: 'a' }]);
  const events = runs.follow('a');
  expect(await events.next()).toMatchObject({ value: { state: 'running' } });
  await expect(events.next()).rejects.toMatchObject({ code: 'file/too-large' });
});
