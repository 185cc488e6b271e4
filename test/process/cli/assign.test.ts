import { basename } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { doubling, kim, openLog, play, temporaryFolder } from '../../fixtures/log';
import { commandFolder, json, tandem } from './tandem';

const { file } = commandFolder();

it('tandem assign assigns a pack, shows how far each person is, and takes the assignment back', async () => {
  const data = await temporaryFolder();
  const { id, description, reference } = doubling;
  const task = {
    problem_description: description,
    ground_truth: reference,
    test_cases: { test1: 'double(1)' },
  };
  const rows = [id, 'b', 'c'].map((each) => ({ ...task, id: each }));
  const pack = await file('mine.jsonl', rows);
  const assign = (...more: string[]) => tandem('assign', pack, '--data', data, ...more);
  expect(await assign('--to', 'kim, ada,kim', '--per-task', '2')).toMatchObject({ code: 0 });
  const log = await openLog(data);
  await play(log, 'of-kim', 1, { collaborator: kim, pack: basename(pack) });
  // A dialogue from a pack that is gone counts, unless another pack there has the task too.
  const ada = { kind: 'developer', name: 'ada' } as const;
  await play(log, 'of-ada', 1, { collaborator: ada, pack: 'gone.jsonl' });
  await log.close();

  expect((await assign()).stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/^person +done +of$/),
    expect.stringMatching(/^ada +1 +3$/),
    expect.stringMatching(/^kim +1 +3$/),
    expect.stringMatching(/^all +2 +6$/),
    expect.any(String),
  ]);
  await file('gone.jsonl', rows.slice(0, 1));
  expect(await json(z.unknown(), 'assign', pack, '--data', data)).toMatchObject({
    rows: [
      { person: 'ada', done: 0, of: 3 },
      { person: 'kim', done: 1, of: 3 },
    ],
    summary: { pack: 'mine.jsonl', tasks: 3, perTask: 2, done: 1, of: 6 },
  });
  expect(await assign('--to', 'ada', '--nobody')).toMatchObject({ code: 2 });
  expect(await assign('--nobody')).toMatchObject({ code: 0 });
});
