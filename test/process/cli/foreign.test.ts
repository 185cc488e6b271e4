import { expect, it } from 'vitest';
import { taskRow } from '../../fixtures/tasks';
import { commandFolder, tandem } from './tandem';

const { file } = commandFolder();
const RED = '\u001b[31m\u009b2J';

// All output passes one place, which test/unit/cli/output.test.ts tests.
it('terminal controls in an argument and in a pack are shown as text', async () => {
  const rows = [taskRow({ id: RED }), taskRow({ id: RED })];
  for (const ended of [
    await tandem('download', RED),
    await tandem('tasks', await file('pack.jsonl', rows)),
  ]) {
    const all = ended.stdout + ended.stderr;
    expect(all).not.toMatch(/[^\P{Cc}\n\t]/u);
    expect(all).toContain(String.raw`\x1b[31m`);
  }
});
