import { expect, it } from 'vitest';
import * as z from 'zod';
import { kim, openLog, play, temporaryFolder } from '../../fixtures/log';
import { json, tandem } from './tandem';

it('tandem agreement prints what each person played and judged, alpha, and where they disagree', async () => {
  const data = await temporaryFolder();
  const log = await openLog(data);
  for (const episode of ['a', 'b']) await play(log, episode, 1, { collaborator: kim, pack: 'mine.jsonl' });
  await log.appendAll([
    { event: 'rating', episode: 'a', stars: 5, by: 'kim' },
    { event: 'rating', episode: 'a', stars: 1, by: 'ada' },
    { event: 'rating', episode: 'b', stars: 2, by: 'kim' },
  ]);
  await log.close();
  const { stdout, code } = await tandem('agreement', '--data', data);
  expect(code).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines[1]).toMatch(/^ada +0 +– +– +1\.0 \[1\.0, 4\.2\], n = 1 +– +– +–$/);
  expect(lines).toContainEqual(
    expect.stringMatching(/^Stars +0\.00 +1 dialogue rated by two or more +Too few for an interval\.$/),
  );
  expect(lines.at(-1)).toMatch(/^stars +a +kim: 5, ada: 1$/);
  expect(await json(z.unknown(), 'agreement', '--data', data)).toMatchObject({
    rows: [{ kind: 'stars', episode: 'a', distance: 1 }],
    summary: { people: [{ name: 'ada' }, { name: 'kim' }], alpha: { stars: { units: 1 } } },
  });
});
