import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { madeFrom } from '../../../src/core/erasure/erase';
import { ownTask } from '../../../src/core/task/own';
import type { LogSelection } from '../../../src/core/training/configuration';
import { countData } from '../../../src/core/training/data/countData';
import { prepareData } from '../../../src/core/training/data/prepare';
import type { SelectionReport } from '../../../src/core/training/data/report';
import type { NewEvent } from '../../../src/core/trajectory/event';
import { exportTrajectories } from '../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { agentTurn, answered, kim, openLog, play, reply, started, temporaryFolder } from '../../fixtures/log';

const CODE = 'def price(weight):\n    return 7 if weight > 20 else 5';
const task = ownTask('The price of a parcel.', 'def price(weight):');
const consent = { event: 'consent', pseudonym: 'kim', purpose: 'research', level: 'export' } as const;
const agreed: NewEvent = { ...consent, signals: ['own-code'] };

/** Makes the log of a dialogue about an own function, and of a graded one about a pack's task. */
async function logOf(
  given: NewEvent,
  left: { code?: string } = { code: CODE },
): Promise<[TrajectoryLog, string]> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await play(log, 'other', 1);
  await log.recordTask(task);
  await log.append(given);
  await log.appendAll([
    started('own', { collaborator: kim, task: task.id }),
    agentTurn('own', 1),
    reply('own', 1, kim),
    agentTurn('own', 2, 'OUTPUT: I WANT TO ANSWER: def price(weight): return 5'),
    answered('own', 2, 'def price(weight): return 5'),
    { event: 'outcome', episode: 'own', outcome: 'accepted', by: 'kim' },
    { event: 'outcome', episode: 'own', outcome: 'edited', survived: 0.5, by: 'kim', ...left },
  ]);
  return [log, folder];
}

type Rows = SelectionReport & {
  readonly rows: readonly { readonly task: object; readonly reward: number | null }[];
};

/** Returns what a run would train on; by default one that needs no grades, and asks for own code. */
async function rowsOf(
  log: string,
  fields: object = { with_own_code: true },
  withUngraded = true,
): Promise<Rows> {
  const run = await temporaryFolder();
  const selection = { log, ...fields } as LogSelection;
  const prompts = resolve('trainer/tandem_trainer/data/prompts');
  const report = await prepareData(selection, run, { prompts, withUngraded });
  const text = await readFile(join(run, 'data', 'trajectories.jsonl'), 'utf8');
  const rows = text.split('\n').filter(Boolean);
  return { ...report, rows: rows.map((line) => JSON.parse(line) as Rows['rows'][number]) };
}

it('becomes a row with the code after the edits as its hidden information', async () => {
  const [log, folder] = await logOf(agreed);
  const { rows, left_out, kept_local } = await rowsOf(folder);
  expect(rows[1]).toMatchObject({
    task: { ground_truth: '', hidden_information: CODE, test_cases: {} },
    reward: null,
  });
  // The code stays on this machine, whatever the level of the consent is.
  expect({ left_out, kept_local }).toEqual({ left_out: {}, kept_local: 1 });
  const counted = { log: folder, with_own_code: true };
  expect(await countData(log, counted, { pairing: 'paper', withUngraded: true })).toMatchObject({
    ...{ trajectories: 2, leftOut: {} },
  });
});

it.each([
  ['unless it is asked for', agreed, {}, true, 'about own code'],
  ['by a method that needs grades', agreed, undefined, false, 'about own code, which has no grade'],
  ['with an older consent', consent, undefined, true, 'about own code, without consent to train on it'],
  [
    'after a No',
    { ...consent, signals: [] },
    undefined,
    true,
    'about own code, without consent to train on it',
  ],
] as const)('is left out and counted %s', async (_, given, fields, withUngraded, reason) => {
  const [, folder] = await logOf(given);
  const { rows, left_out } = await rowsOf(folder, fields, withUngraded);
  expect({ rows: rows.length, left_out }).toEqual({ rows: 1, left_out: { [reason]: 1 } });
});

it('is left out where the code was not logged, and after the consent was withdrawn', async () => {
  const [, without] = await logOf(agreed, {});
  expect((await rowsOf(without)).left_out).toEqual({ 'about own code that was not logged': 1 });
  const [log, folder] = await logOf(agreed);
  await log.append({ ...consent, signals: ['another'] });
  expect((await rowsOf(folder)).left_out).toEqual({ 'about own code, without consent to train on it': 1 });
});

it('is exported without its code, which is counted', async () => {
  const [log] = await logOf(agreed);
  const file = join(await temporaryFolder(), 'rows.jsonl');
  const options = { withUngraded: true, withOwnCode: true, visible: () => '' };
  const { rows, ownCode } = await exportTrajectories(log, file, { ...options, format: 'trajectories' });
  expect({ rows, ownCode }).toEqual({ rows: 2, ownCode: 1 });
  expect(await readFile(file, 'utf8')).not.toContain('7 if weight');
});

it('names the run that learned from it when its person is erased', async () => {
  const [log, folder] = await logOf(agreed);
  await prepareData({ log: folder, with_own_code: true }, join(folder, 'runs', 'learned'), {
    ...{ prompts: resolve('trainer/tandem_trainer/data/prompts'), withUngraded: true },
  });
  expect((await madeFrom(folder, 'kim')).runs).toEqual(['learned']);
  await log.eraseDeveloper('kim');
  expect((await rowsOf(folder)).rows).toHaveLength(1);
});
