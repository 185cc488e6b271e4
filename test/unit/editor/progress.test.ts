import { expect, it } from 'vitest';
import type { Pack } from '../../../src/editor/tasks/pack';
import { Progress } from '../../../src/editor/tasks/progress';
import { Rivals } from '../../../src/editor/tasks/rivals';
import { doubling, openLog, play, started, temporaryFolder } from '../../fixtures/log';

const task = doubling.id;

function pack(file: string, ...ids: string[]): Pack {
  const tasks = ids.map((id) => ({ pack: file, id, title: id, description: '', tests: 1 }));
  return { file, name: file, tasks, bad: [] };
}

it('says of a task in each pack that has it what was played from there', async () => {
  const log = await openLog(await temporaryFolder());
  await play(log, 'done', 1, { pack: 'one.jsonl' });
  await log.append(started('begun', { pack: 'two.jsonl' }));
  const progress = new Progress();
  progress.read(log);
  const packs = ['/a/one.jsonl', '/a/two.jsonl', '/a/three.jsonl'].map((file) => pack(file, task, file));
  const rivals = new Rivals(packs, () => '/a/log');
  const state = (file: string, id = task): unknown =>
    progress.state(id, (from) => rivals.counts(from, { log: '/a/log', pack: file, task: id }));

  expect(state('/a/one.jsonl')).toMatchObject({ kind: 'done', episode: 'done' });
  expect(state('/a/two.jsonl')).toMatchObject({ kind: 'draft', episode: 'begun' });
  expect(state('/a/three.jsonl')).toEqual({ kind: 'new' });
  expect(state('/a/three.jsonl', '/a/three.jsonl')).toEqual({ kind: 'new' });

  // Begun from no pack, as an imported one: it is about the task, whichever pack that stands in.
  await log.append(started('imported'));
  progress.update(log, ['imported']);
  expect(state('/a/three.jsonl')).toMatchObject({ episode: 'imported' });
  expect(state('/a/one.jsonl')).toMatchObject({ episode: 'imported' });
});

it('keeps what was played from a pack that was renamed, and from a task that one pack has', async () => {
  const log = await openLog(await temporaryFolder());
  await play(log, 'done', 1, { pack: 'old-name.jsonl' });
  const progress = new Progress();
  progress.read(log);
  for (const packs of [
    [pack('/a/new.jsonl', task)],
    [pack('/a/new.jsonl', task), pack('/a/b.jsonl', task)],
  ]) {
    const rivals = new Rivals(packs, () => '/a/log');
    const place = { log: '/a/log', pack: '/a/new.jsonl', task };
    expect(progress.state(task, (from) => rivals.counts(from, place))).toMatchObject({ kind: 'done' });
  }
});

it('tells nothing of packs that log elsewhere', () => {
  const packs = [pack('/a/one.jsonl', task), pack('/b/two.jsonl', task)];
  const rivals = new Rivals(packs, (file) => file.slice(0, 2));
  expect(rivals.counts('two.jsonl', { log: '/a', pack: '/a/one.jsonl', task })).toBe(true);
});
