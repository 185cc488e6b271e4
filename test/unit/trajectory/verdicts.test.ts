import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import { verdictsOf } from '../../../src/core/trajectory/verdicts';
import { openLog, play, temporaryFolder, verdict } from '../../fixtures/log';

describe('what people say of a critic’s credit', () => {
  it('is kept with the turn: the last word of a person on a critic, none when it was taken back', async () => {
    const log = await openLog();
    await play(log, 'a', 1);
    await log.appendAll([
      verdict('a', 2, true, { critic: 'one' }),
      verdict('a', 2, false, { critic: 'two' }),
      verdict('a', 2, true, { critic: 'one', by: 'ada' }),
      verdict('a', 2, false, { critic: 'one' }),
      verdict('a', 2, undefined, { critic: 'two' }),
    ]);
    const said = verdictsOf((await log.trajectory('a'))!);
    expect(said.map(({ turn, critic, by, agrees }) => [turn, critic, by, agrees])).toEqual([
      [2, 'one', 'ada', true],
      [2, 'one', 'kim', false],
    ]);
    expect(log.summary('a')?.verdicts).toBe(2);
  });

  it('is erased with its author’s data, from the dialogue of somebody else', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'a', 1);
    await log.append(verdict('a', 1, true));
    await log.eraseDeveloper('kim');
    expect((await log.trajectory('a'))!.turns).toHaveLength(2);
    expect(verdictsOf((await log.trajectory('a'))!)).toEqual([]);
  });

  it('is exported as far as its author’s consent goes, without the pseudonym', async () => {
    const folder = await temporaryFolder();
    const log = await openLog(folder);
    await play(log, 'a', 1);
    await log.append(verdict('a', 1, false));
    const rows = async (): Promise<unknown> => {
      const file = join(folder, 'rows.jsonl');
      await exportTrajectories(log, file, { format: 'trajectories', visible: ({ agent }) => agent.text });
      return (JSON.parse(await readFile(file, 'utf8')) as { tandem: { turns: unknown[] } }).tandem.turns[0];
    };
    expect(await rows()).not.toHaveProperty('verdicts');
    const consent = { event: 'consent', pseudonym: 'kim', purpose: 'a study' } as const;
    await log.append({ ...consent, level: 'local' });
    expect(await rows()).not.toHaveProperty('verdicts');
    await log.append({ ...consent, level: 'export' });
    expect(await rows()).toMatchObject({
      verdicts: [{ critic: 'critic-1', advantage: 0.25, agrees: false }],
    });
    expect(JSON.stringify(await rows())).not.toContain('kim');
  });
});
