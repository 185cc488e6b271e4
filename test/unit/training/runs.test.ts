import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runInFull } from '../../../src/cli/runWords';
import { Runs } from '../../../src/core/training/runs';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tandem-runs-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a run whose base is on the hub', () => {
  it('tells the commit with which its trainer began', async () => {
    const runs = new Runs(folder);
    const run = path.join(runs.folder, 'a');
    await mkdir(run, { recursive: true });
    await writeFile(path.join(run, 'run.json'), JSON.stringify({ model: { base: 'owner/model' } }));
    expect(await runs.find('a')).not.toHaveProperty('commit');
    const commit = 'c0ffee'.padEnd(40, '0');
    const begun = (of: string | null): Promise<void> =>
      writeFile(path.join(run, 'configuration.json'), JSON.stringify({ version: 1, commit: of }));
    await begun(null); // its base is a folder
    expect(await runs.find('a')).not.toHaveProperty('commit');
    await begun(commit);
    const found = await runs.find('a');
    expect(found.commit).toBe(commit);
    expect(runInFull(found)).toContain(`sweet-rl on owner/model at commit ${commit}; folder ${run}`);
  });
});
