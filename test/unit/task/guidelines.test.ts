import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guidelinesOf } from '../../../src/core/task/guidelines';
import { inFolder } from '../../fixtures/tasks';

it('finds the guidelines of a pack beside it, else those of its folder', async () => {
  await inFolder(async (folder) => {
    const pack = join(folder, 'parcels.jsonl');
    expect(await guidelinesOf(pack)).toBeUndefined();
    await writeFile(join(folder, 'GUIDELINES.md'), '# For all packs');
    expect(await guidelinesOf(pack)).toBe(join(folder, 'GUIDELINES.md'));
    await writeFile(join(folder, 'parcels.guidelines.md'), '# For this one');
    expect(await guidelinesOf(pack)).toBe(join(folder, 'parcels.guidelines.md'));
    expect(await guidelinesOf(join(folder, 'other.jsonl'))).toBe(join(folder, 'GUIDELINES.md'));
  });
});
