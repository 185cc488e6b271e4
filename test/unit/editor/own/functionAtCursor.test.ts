import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { logSurvived } from '../../../../src/core/dialogue/survival';
import { ownTask } from '../../../../src/core/task/own';
import { Session } from '../../../../src/editor/session/session';
import { answers, asks, scripted } from '../../../fixtures/dialogue';
import { Stage } from '../stage';

const ada = { pseudonym: 'ada', purpose: 'a test', level: 'local' } as const;
const own = { file: 'file:///project/shop%20two.py', name: 'parcel_price', near: 3 };
const task = ownTask('The price of a parcel.', 'def parcel_price(weight_kg):');

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.set();
});
afterEach(() => stage.clear());

async function played(): Promise<Session> {
  stage.agent = await scripted(stage.folder, [
    asks('How heavy?'),
    answers('def parcel_price(weight_kg): return 1'),
  ]);
  const session = Session.ofTask(stage, { task, own }, stage.drafts);
  await session.do({ type: 'start', consent: ada });
  expect(session.state).toMatchObject({ phase: 'developer', onlyDeveloperKnows: true });
  await session.do({ type: 'reply', draft: { text: 'Above 20 kg.' } });
  return session;
}

it('is played like any task and ends with its answer, which nothing grades', async () => {
  const session = await played();
  expect(session.state).toMatchObject({ phase: 'over' });
  expect(session.state).not.toHaveProperty('notice');
  expect(session.state).not.toHaveProperty('grade');
  expect(session.answer).toContain('def parcel_price');
  const trajectory = await stage.trajectory(session.id);
  expect(trajectory).toMatchObject({ state: 'answered', grades: [], task: { testCases: [], reference: '' } });
  expect(trajectory.turns[0]?.leak).toMatchObject({ fraction: 0, leaked: false });
  // The log does not contain the file's path.
  expect(JSON.stringify(trajectory)).not.toContain('shop');
});

it('asks for no grade after a reload, and keeps what became of the answer', async () => {
  const { id } = await played();
  const log = await stage.log();
  await log.append({ event: 'outcome', episode: id!, outcome: 'accepted', by: 'ada' });
  await log.append({
    event: 'outcome',
    episode: id!,
    outcome: 'edited',
    survived: 0.5,
    milliseconds: 300_000,
    by: 'ada',
  });
  const trajectory = await stage.trajectory(id);
  expect(trajectory.outcome).toMatchObject({ outcome: 'edited', survived: 0.5 });
  const session = Session.ofTrajectory(stage, trajectory, { own }, stage.drafts);
  expect(session.state).toMatchObject({ phase: 'over', decision: 'accepted', ownFile: 'shop two.py' });
  expect(session.state).not.toHaveProperty('notice');
  await session.do({ type: 'grade' });
  expect(session.state).not.toHaveProperty('grade');
  expect(session.title).toBe('parcel_price');
});

it('has no decision while the accepted answer is undone', async () => {
  const { id } = await played();
  await (await stage.log()).append({ event: 'outcome', episode: id!, outcome: 'accepted', by: 'ada' });
  const session = Session.ofTrajectory(stage, await stage.trajectory(id), { own }, stage.drafts);
  await session.do({ type: 'undone', isUndone: true });
  await session.do({ type: 'follow' });
  expect(session.state).not.toHaveProperty('decision');
  await session.do({ type: 'undone', isUndone: false });
  expect(session.state).toMatchObject({ decision: 'accepted' });
});

it('has it logged once how much of the answer is left, however many windows measure it', async () => {
  const { id } = await played();
  const logs = [await stage.log(), await (await stage.otherWindow()).log()];
  const measured = { outcome: 'edited', survived: 0.5, milliseconds: 300_000, by: 'ada' } as const;
  const outcomes = async (): Promise<unknown[]> => {
    const folder = path.join(stage.dataFolder, 'log');
    const texts = await Promise.all(
      (await readdir(folder)).map((name) => readFile(path.join(folder, name), 'utf8')),
    );
    const lines = texts.flatMap((text) => text.split('\n').filter((line) => line.includes('"outcome"')));
    // The two windows write to a file each, and these are read in any order.
    return lines.map((line) => (JSON.parse(line) as { survived?: number }).survived ?? null).sort();
  };
  await logs[0]!.append({ event: 'outcome', episode: id!, outcome: 'accepted', by: 'ada' });
  await Promise.all(logs.map((log) => logSurvived(log, id!, measured, 300_000)));
  // Another process with a slow clock logs a measurement.
  await logSurvived(logs[1]!, id!, { ...measured, survived: 0.25 }, 300_000);
  expect(await outcomes()).toEqual([0.5, null]);
  // It is measured once more after a day.
  const day = { ...measured, survived: 0.125, milliseconds: 86_400_000 };
  await Promise.all(logs.map((log) => logSurvived(log, id!, day, 86_400_000)));
  expect(await outcomes()).toEqual([0.125, 0.5, null]);
  // A second acceptance is measured again.
  await logs[1]!.append({ event: 'outcome', episode: id!, outcome: 'accepted', by: 'ada' });
  await logSurvived(logs[0]!, id!, { ...measured, survived: 1 }, 300_000);
  expect(await outcomes()).toEqual([0.125, 0.5, 1, null, null]);
});
