import { describe, expect, it } from 'vitest';
import { SharedTaskIds, TaskProgress, type TaskState } from '../../../src/core/dialogue/taskProgress';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import {
  doubling,
  kim,
  openLog,
  play,
  review,
  simulator,
  started,
  temporaryFolder,
} from '../../fixtures/log';

const ada = { kind: 'developer', name: 'ada' } as const;

/** Returns the states of the task for each person after the log was read anew. */
function statesIn(log: TrajectoryLog): Record<string, TaskState> {
  const progress = new TaskProgress();
  progress.read(log);
  return Object.fromEntries(progress.states(doubling.id, () => true));
}

describe('A person’s progress with a task', () => {
  it('is that of their own dialogues, also after a simulator took their seat', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'of-kim', 0.5, { collaborator: kim });
    await play(log, 'of-nobody', 1);
    await log.append(started('of-ada', { collaborator: ada }));
    await log.append({ event: 'hand-over', episode: 'of-ada', turn: 1, to: simulator });
    expect(statesIn(log)).toEqual({
      kim: { kind: 'done', episode: 'of-kim', reward: 0.5 },
      ada: { kind: 'draft', episode: 'of-ada', turns: 0 },
    });
  });

  it('is not done while a review asks for it again, with the reason, until it was played once more', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'first', 1, { collaborator: kim });
    const progress = new TaskProgress();
    progress.read(log);
    const state = (): TaskState => progress.state(doubling.id, ({ player }) => player === 'kim');
    await log.append(review('first', 'ada', 'redo', 'It gives the formula away'));
    progress.update(log, ['first']);
    await progress.readReasons([state()]);
    expect(state()).toEqual({ kind: 'redo', episode: 'first', reason: 'It gives the formula away' });
    await log.append(review('first', 'ada', 'accepted'));
    progress.update(log, ['first']);
    expect(state()).toMatchObject({ kind: 'done' });
    await log.append(review('first', 'ada', 'redo'));
    await play(log, 'second', 1, { collaborator: kim });
    progress.update(log, ['first', 'second']);
    expect(state()).toMatchObject({ kind: 'done', episode: 'second' });
  });

  it('goes with a dialogue to whoever takes the seat, and the earlier one counts again', async () => {
    const log = await openLog(await temporaryFolder());
    await play(log, 'earlier', 1, { collaborator: kim });
    await log.append(started('handed-over', { collaborator: kim }));
    const progress = new TaskProgress();
    progress.read(log);
    const states = (): unknown => Object.fromEntries(progress.states(doubling.id, () => true));
    expect(states()).toMatchObject({ kim: { kind: 'draft' } });
    await log.append({ event: 'hand-over', episode: 'handed-over', turn: 1, to: ada });
    progress.update(log, ['handed-over']);
    expect(states()).toMatchObject({
      kim: { kind: 'done', episode: 'earlier' },
      ada: { kind: 'draft', episode: 'handed-over' },
    });
  });
});

const task = doubling.id;

const pack = (file: string, ...ids: string[]) => ({ file, tasks: ids.map((id) => ({ id })) });

it('says of a task in each pack that has it what was played from there', async () => {
  const log = await openLog(await temporaryFolder());
  await play(log, 'done', 1, { pack: 'one.jsonl' });
  await log.append(started('begun', { pack: 'two.jsonl' }));
  const progress = new TaskProgress();
  progress.read(log);
  const packs = ['/a/one.jsonl', '/a/two.jsonl', '/a/three.jsonl'].map((file) => pack(file, task, file));
  const rivals = new SharedTaskIds(packs, () => '/a/log');
  const state = (file: string, id = task): unknown =>
    progress.state(id, ({ pack: from }) => rivals.counts(from, { log: '/a/log', pack: file, task: id }));

  expect(state('/a/one.jsonl')).toMatchObject({ kind: 'done', episode: 'done' });
  expect(state('/a/two.jsonl')).toMatchObject({ kind: 'draft', episode: 'begun' });
  expect(state('/a/three.jsonl')).toEqual({ kind: 'new' });
  expect(state('/a/three.jsonl', '/a/three.jsonl')).toEqual({ kind: 'new' });

  // An imported dialogue has no pack; it counts for its task in any pack.
  await log.append(started('imported'));
  progress.update(log, ['imported']);
  expect(state('/a/three.jsonl')).toMatchObject({ episode: 'imported' });
  expect(state('/a/one.jsonl')).toMatchObject({ episode: 'imported' });
});

it('keeps what was played from a pack that was renamed, and from a task that one pack has', async () => {
  const log = await openLog(await temporaryFolder());
  await play(log, 'done', 1, { pack: 'old-name.jsonl' });
  const progress = new TaskProgress();
  progress.read(log);
  for (const packs of [
    [pack('/a/new.jsonl', task)],
    [pack('/a/new.jsonl', task), pack('/a/b.jsonl', task)],
  ]) {
    const rivals = new SharedTaskIds(packs, () => '/a/log');
    const place = { log: '/a/log', pack: '/a/new.jsonl', task };
    expect(progress.state(task, ({ pack: from }) => rivals.counts(from, place))).toMatchObject({
      kind: 'done',
    });
  }
});

it('tells nothing of packs that log elsewhere', () => {
  const packs = [pack('/a/one.jsonl', task), pack('/b/two.jsonl', task)];
  const rivals = new SharedTaskIds(packs, (file) => file.slice(0, 2));
  expect(rivals.counts('two.jsonl', { log: '/a', pack: '/a/one.jsonl', task })).toBe(true);
});
