import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { openLog, play, temporaryFolder } from '../../fixtures/log';
import { json, tandem } from './tandem';

it('tandem erase leaves nothing of a developer in the log, and everything of the others, once it is told yes', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  await play(log, 'of-others', 1);
  await log.append({ event: 'consent', pseudonym: 'ada', purpose: 'research' });
  await play(log, 'by-ada', 1, { collaborator: { kind: 'developer', name: 'ada' } });
  await log.close();
  const inLog = async (): Promise<string> => {
    const segments = await readdir(path.join(data, 'log'));
    const texts = await Promise.all(segments.map((name) => readFile(path.join(data, 'log', name), 'utf8')));
    return texts.join('');
  };
  expect(await tandem('erase', 'ada', '--data', data)).toMatchObject({ code: 2 });
  expect(await inLog()).toContain('"ada"');
  const schema = z.object({ summary: z.object({ episodes: z.number() }) });
  expect((await json(schema, 'erase', 'ada', '--yes', '--data', data)).summary).toEqual({ episodes: 1 });
  expect(await inLog()).not.toContain('ada"');
  const again = await openLog(data);
  expect(again.list({ offset: 0, limit: 100 }).rows.map(({ id }) => id)).toEqual(['of-others']);
});
