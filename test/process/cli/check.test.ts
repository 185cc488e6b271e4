import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { openLog, play, segmentFiles, temporaryFolder } from '../../fixtures/log';
import { tandem } from './tandem';

it('tandem check finds a changed line, and repairs the log beside it only when asked', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  for (const id of ['e1', 'e2']) await play(log, id, 1);
  await log.close();
  expect(await tandem('check', data)).toMatchObject({ code: 0 });

  const [file] = await segmentFiles(data);
  const damaged = (await readFile(file!, 'utf8')).replace('"event":"answered"', '"event":"Answered"');
  await writeFile(file!, damaged);
  const bad = await tandem('check', data);
  expect(bad).toMatchObject({ code: 1 });
  expect(bad.stdout).toContain(`--repair to write what can be saved into ${data}-repaired`);
  const repaired = await tandem('check', data, '--repair');
  expect(repaired).toMatchObject({ code: 0 });
  expect(repaired.stdout).toContain('1 line lost');
  expect(await readFile(file!, 'utf8')).toBe(damaged);
});
