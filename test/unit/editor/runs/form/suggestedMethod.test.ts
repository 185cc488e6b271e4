import { expect, it, vi } from 'vitest';
import type { Form, FormContext } from '../../../../../src/editor/runs/form/configuration';
import { suggestedMethod } from '../../../../../src/editor/runs/form/suggestedMethod';
import type { TrajectoryLog } from '../../../../../src/core/trajectory/log';
import { dialogue, doubling, openLog } from '../../../../fixtures/log';

vi.mock('vscode', () => import('../../vscode'));

const context: FormContext = {
  recommended: { model: { base: '/models/starter' }, data: { pairing: 'all' } },
  dataFolder: '/project/.tandem',
  name: (method) => method,
  cluster: { state: 'none' },
};

/** A log with dialogues of so many tasks, the first of which are played again. */
async function logOf({ tasks, again = 0 }: { tasks: number; again?: number }): Promise<TrajectoryLog> {
  const log = await openLog();
  for (let at = 0; at < tasks; at++) await log.recordTask({ ...doubling, id: `task-${at}` });
  const played = Array.from({ length: tasks + again }, (_, at) =>
    dialogue(`dialogue-${at}`, 0, { task: `task-${at % tasks}` }),
  );
  await log.appendAll(played.flat());
  return log;
}

const suggestion = async (log: TrajectoryLog, form: Partial<Form> = {}): Promise<string | undefined> =>
  (await suggestedMethod({ values: {}, ...form }, log, context))?.method;

it('suggests distillation for few dialogues, about one of each task', async () => {
  expect(await suggestion(await logOf({ tasks: 1 }))).toBe('distill');
  expect(await suggestion(await logOf({ tasks: 10, again: 5 }))).toBe('distill');
  expect(await suggestion(await logOf({ tasks: 10, again: 6 }))).toBeUndefined();
  expect(await suggestion(await logOf({ tasks: 250 }))).toBe('distill');
  expect(await suggestion(await logOf({ tasks: 251 }))).toBeUndefined();
  expect(await suggestion(await openLog())).toBeUndefined();
});

it('leaves a chosen method, a duplicated run and a simulator as they are', async () => {
  const log = await logOf({ tasks: 3 });
  const copied = { of: 'Run 1', configuration: {}, data: '' };
  const forms: Partial<Form>[] = [
    { values: { method: 'rft' } },
    { copied },
    { values: { role: 'collaborator' } },
  ];
  for (const form of forms) expect(await suggestion(log, form)).toBeUndefined();
});

it('counts the dialogues that the run would take', async () => {
  const log = await logOf({ tasks: 4 });
  for (const at of [0, 1, 2, 3])
    await log.appendAll([
      ...dialogue(`evaluated-${at}`, 1, { task: 'task-0', collection: 'evaluation of Run 1' }),
      ...dialogue(`other-${at}`, 1, { task: 'task-0', agent: 'openai:other' }),
    ]);
  expect(await suggestion(log)).toBeUndefined();
  expect(await suggestion(log, { values: { agent: 'openai:agent' } })).toBe('distill');
  expect(
    await suggestion(log, { values: { agent: 'openai:agent', with_evaluations: 'true' } }),
  ).toBeUndefined();
});
