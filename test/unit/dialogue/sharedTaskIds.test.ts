import { expect, it } from 'vitest';
import { SharedTaskIds } from '../../../src/core/dialogue/sharedTaskIds';
import { TaskProgress } from '../../../src/core/dialogue/taskProgress';
import { doubling, openLog, play, started, temporaryFolder } from '../../fixtures/log';

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
