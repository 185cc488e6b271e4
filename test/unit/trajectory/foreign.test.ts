import { appendFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assigning } from '../../../src/core/trajectory/assignments';
import { LOG_VERSION, type LogEvent, type NewEvent } from '../../../src/core/trajectory/event';
import type { TrajectoryLog } from '../../../src/core/trajectory/log';
import { fingerprintOf } from '../../../src/core/trajectory/segment/reader';
import { encodeEvent, sealLine } from '../../../src/core/trajectory/segment/line';
import {
  agentTurn,
  answered,
  dialogue,
  doubling,
  graded,
  kim,
  label,
  openLog,
  play,
  reply,
  review,
  segmentFiles,
  started,
  temporaryFolder,
  verdict,
} from '../../fixtures/log';

type Level = 'local' | 'export' | 'export-with-edits';

const consent = (pseudonym: string, level: Level): NewEvent => ({
  event: 'consent',
  pseudonym,
  purpose: 'research',
  level,
});

/** A data folder whose only dialogue was played by a person with that consent. */
async function folderOf(person: string, level: Level, episode: string): Promise<string> {
  const folder = await temporaryFolder();
  const log = await openLog(folder);
  await log.append(consent(person, level));
  await play(log, episode, 1, { collaborator: { kind: 'developer', name: person } });
  await log.close();
  return folder;
}

const NOW = '2026-01-01T00:00:00.000Z';
const head = { version: LOG_VERSION, at: NOW } as const;
const task: LogEvent = { ...head, event: 'task', task: doubling };
const taken = (event: NewEvent, at = NOW): LogEvent => ({ ...head, ...event, at });

/** Writes a segment as a hostile program would: any events, any numbers, check sums that are right. */
async function hostileSegment(
  events: readonly object[],
  { folder, name = '20260101T000000000Z-00000000.jsonl' }: { folder?: string; name?: string } = {},
): Promise<string> {
  const data = folder ?? (await temporaryFolder());
  await mkdir(join(data, 'log'), { recursive: true });
  const lines = events.map((event, index) => sealLine(encodeEvent(event as LogEvent), index + 1));
  await writeFile(join(data, 'log', name), Buffer.concat(lines));
  return data;
}

const FAR = ['9999-12-31T23:59:59.999Z', '+275760-09-13T00:00:00.000Z'] as const;
const part = { person: 'kim', place: 0, places: 1, perTask: 1, seed: 1 };
const segment = (fields: object = {}): object => ({ ...head, event: 'segment', segment: 'x', ...fields });
const imported = (log: TrajectoryLog): string[] =>
  log.list({ offset: 0, limit: 99 }).rows.map(({ id }) => id);

describe('people of an imported data folder', () => {
  it('are others than those here with their pseudonyms, each with an own consent, also when it grows', async () => {
    const there = await folderOf('kim', 'export-with-edits', 'b1');
    const here = await folderOf('kim', 'local', 'a1');
    const log = await openLog(here);
    expect(await log.merge(there)).toMatchObject({ renamed: [{ from: 'kim', to: 'kim (2)' }], lowered: [] });
    expect(log.allowed.level('kim')).toBe('local');
    expect(log.allowed.level('kim (2)')).toBe('export-with-edits');
    expect(log.summary('a1')?.player).toBe('kim');
    expect((await log.trajectory('b1'))?.turns[0]?.reply?.by).toBe('kim (2)');

    const other = await openLog(there);
    await play(other, 'b2', 1, { collaborator: kim });
    expect(await log.merge(there)).toMatchObject({ imported: 1, renamed: [{ to: 'kim (2)' }] });
    expect(log.summary('b2')?.player).toBe('kim (2)');
    // A third one of that name, from elsewhere.
    await log.merge(await folderOf('kim', 'export', 'c1'));
    expect(log.summary('c1')?.player).toBe('kim (3)');
    // One who has played nothing here yet.
    await log.merge(await folderOf('ada', 'export', 'd1'), { self: 'ada' });
    expect(log.summary('d1')?.player).toBe('ada (2)');
  });

  it('are those here if somebody says so, with the lower of both consents', async () => {
    const there = await folderOf('kim', 'export', 'b1');
    const log = await openLog(await folderOf('kim', 'export-with-edits', 'a1'));
    expect(await log.sharedPeople(there)).toEqual(['kim']);
    expect(await log.merge(there, { samePeople: ['kim'] })).toMatchObject({
      renamed: [],
      lowered: [{ pseudonym: 'kim', from: 'export-with-edits', to: 'export' }],
    });
    expect(log.allowed.level('kim')).toBe('export');
    expect(await log.sharedPeople(there)).toEqual([]);
    await expect(log.merge(there, { samePeople: ['kym'] })).rejects.toMatchObject({
      code: 'trajectory/unknown',
    });
  });

  it('become those here when somebody says so later, with all that was imported before', async () => {
    const there = await folderOf('kim', 'export', 'b1');
    const here = await folderOf('kim', 'export-with-edits', 'a1');
    const log = await openLog(here);
    await log.merge(there);
    expect(log.summary('b1')?.player).toBe('kim (2)');
    expect(await log.merge(there, { samePeople: ['kim'] })).toMatchObject({ imported: 0, alreadyThere: 1 });
    expect(log.summary('b1')?.player).toBe('kim');
    expect((await log.trajectory('b1'))?.turns[0]?.reply?.by).toBe('kim');
    expect([log.allowed.level('kim'), log.allowed.level('kim (2)')]).toEqual(['export', undefined]);
    expect(log.problems).toEqual([]);
  });

  it('keep their consent, and nobody who takes their pseudonym here raises it', async () => {
    const log = await openLog();
    await log.merge(await folderOf('kim', 'export', 'b1'));
    expect(log.allowed.mayLeave('kim')).toBe(true);
    await log.merge(await folderOf('ben', 'local', 'b2'));
    await log.append(consent('ben', 'export-with-edits'));
    expect(log.allowed.level('ben')).toBe('local');
    expect(log.allowed.own('ben')?.level).toBe('export-with-edits');
  });

  it('without a consent leave by that of nobody who takes their pseudonym here', async () => {
    const there = await temporaryFolder();
    await play(await openLog(there), 'b1', 1, { collaborator: kim });
    const log = await openLog();
    expect(await log.merge(there)).toMatchObject({ renamed: [{ from: 'kim', to: 'kim (2)' }] });
    await log.append(consent('kim', 'export'));
    const trajectory = await log.trajectory('b1');
    expect(trajectory && log.allowed.whyNot(trajectory, false)).toBe('no consent');
  });

  it('stay erased here, with their names in the first lines of files', async () => {
    const there = await folderOf('kim', 'export', 'b1');
    const here = await folderOf('kim', 'local', 'a1');
    const log = await openLog(here);
    await log.merge(there);
    await log.eraseDeveloper('kim (2)');
    expect(await log.merge(there)).toMatchObject({ imported: 0, grown: 0 });
    const other = await openLog(there);
    await other.appendAll([review('b1', 'kim', 'accepted')]);
    expect(await log.merge(there)).toMatchObject({ imported: 0, leftOut: { review: 1 } });
    expect(imported(log)).toEqual(['a1']);
    for (const file of await segmentFiles(here))
      expect((await readFile(file, 'utf8')).split('\n').slice(1).join()).not.toContain('kim (2)');
  });
});

describe('lines of an imported data folder about a dialogue that is here', () => {
  it('add what other people think of it, and nothing else', async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const log = await openLog(here);
    await play(log, 'a1', 0.5);
    await log.append(label('a1', 'ada', { title: 'mine' }));
    const before = await log.trajectory('a1');
    const ben = await openLog(there);
    await ben.merge(here);
    await ben.appendAll([
      reply('a1', 1, kim),
      graded('a1', 1),
      review('a1', 'ben', 'redo'),
      { event: 'resumed', episode: 'a1' },
      answered('a1', 2, 'forged'),
      { event: 'lines-lost', episode: 'a1', reason: 'forged' },
      { event: 'deleted', episode: 'a1' },
      { event: 'rating', episode: 'a1', stars: 2, by: 'ben' },
      label('a1', 'ben', { title: 'forged', tags: ['odd'] }),
    ]);
    expect(await log.merge(there)).toMatchObject({
      leftOut: { reply: 1, grade: 1, review: 1, resumed: 1, answered: 1, 'lines-lost': 1, deleted: 1 },
    });
    const { ratings, rating, labels, ...after } = (await log.trajectory('a1'))!;
    const { labels: _, ...unchanged } = before!;
    expect(after).toEqual(unchanged);
    expect([ratings?.map(({ by, stars }) => [by, stars]), rating?.stars]).toEqual([[['ben', 2]], 2]);
    expect(labels?.map(({ by, title, tags }) => [by, title, tags])).toEqual([
      ['ada', 'mine', undefined],
      ['ben', undefined, ['odd']],
    ]);
  });

  it('replace no opinion of the same person, whenever somebody says who that is', async () => {
    const at = new Date(Date.now() + 60_000).toISOString();
    const there = await hostileSegment([
      segment(),
      taken(consent('kim', 'export')),
      taken(label('a1', 'kim', { title: 'forged', tags: ['odd'] }), at),
      taken({ event: 'rating', episode: 'a1', stars: 1, by: 'kim' }, at),
    ]);
    for (const isLater of [false, true]) {
      const log = await openLog(await folderOf('kim', 'export', 'a1'));
      await log.appendAll([
        label('a1', 'kim', { title: 'mine', note: 'my note' }),
        { event: 'rating', episode: 'a1', stars: 5, by: 'kim' },
      ]);
      const before = await log.trajectory('a1');
      if (isLater) await log.merge(there);
      const { leftOut } = await log.merge(there, { samePeople: ['kim'] });
      expect(leftOut).toEqual({ label: 1, rating: 1 });
      expect(await log.trajectory('a1')).toEqual(before);
      expect(log.problems).toEqual([]);
    }
  });

  it('make it no damaged one by turns that it does not have', async () => {
    const log = await openLog();
    await play(log, 'a1', 1);
    const at = new Date(Date.now() + 1000).toISOString();
    const there = await hostileSegment([
      segment(),
      taken({ event: 'turn-rating', episode: 'a1', turn: 99, thumb: 'up', by: 'ben' }, at),
      taken(verdict('a1', 98, true, { by: 'ben' }), at),
      taken(verdict('a1', 1, true, { by: 'ben', advantage: 1e308 }), at),
    ]);
    const before = await log.trajectory('a1');
    expect(await log.merge(there)).toMatchObject({ leftOut: { 'credit-verdict': 1 } });
    expect(await log.trajectory('a1')).toEqual(before);
  });

  it('bring it back neither from a grown file nor by a restoring line, once it was deleted here', async () => {
    const [here, there] = [await temporaryFolder(), await temporaryFolder()];
    const [log, other] = [await openLog(here), await openLog(there)];
    await play(other, 'b1', 1);
    await log.merge(there);
    await log.delete(['b1']);
    await other.delete(['b1']);
    await other.undelete(['b1']);
    expect(await log.merge(there)).toMatchObject({ imported: 0, leftOut: { deleted: 1, undeleted: 1 } });
    expect(imported(log)).toEqual([]);
  });
});

describe('hostile lines of an imported data folder', () => {
  it('move no later time, and stop no later write', async () => {
    for (const far of FAR) {
      const there = await hostileSegment([
        segment({ at: far, lost: far, without: [[2 ** 53, 2 ** 53]] }),
        { ...task, at: far },
        ...dialogue('b1', 1).map((event) => taken(event, far)),
        taken(consent('zoe', 'export'), far),
      ]);
      const log = await openLog();
      await play(log, 'a1', 1);
      await log.append(consent('kim', 'export'));
      const merged = await log.merge(there);
      expect(merged.imported).toBe(1);
      expect(merged.limitedTimes).toBeGreaterThan(8);
      const { at } = await log.append(consent('kim', 'local'));
      expect(Math.abs(Date.parse(at) - Date.now())).toBeLessThan(600_000);
      expect(log.allowed.level('kim')).toBe('local');
      await log.append(consent('kim', 'export'));
      expect(log.allowed.level('kim')).toBe('export');
      expect(log.summary('a1')?.doubtful).toBeUndefined();
    }
  });

  it('may say any number, have second first lines, and be long, without harm to others', async () => {
    const long = 'x'.repeat(10 * 1024 * 1024);
    const there = await hostileSegment([
      segment({ without: [[-5, 2 ** 53 - 1]], imported: { origin: 'x', bytes: 0, sum: 0, people: [] } }),
      task,
      ...dialogue('b1', 1).map((event) => taken(event)),
      segment({
        lost: 'not a time',
        older: [{ name: '__proto__', fingerprint: 1, bytes: 1, sum: 1, until: 'x' }],
      }),
      taken(started('b2')),
      { ...taken(agentTurn('b2', 1)), turn: -1 },
      { ...taken(agentTurn('b2', 1)), turn: 1e308 },
      { ...taken(reply('b2', 1)), milliseconds: 1e308 },
      taken(agentTurn('b2', 1, long)),
      taken(started('__proto__', { prompts: JSON.parse('{"__proto__":"x"}') as Record<string, string> })),
      { ...taken(agentTurn('__proto__', 1)), agent: '__proto__' },
      { ...taken(agentTurn('b2', 2)), usage: { promptTokens: 1e308, completionTokens: 0 } },
    ]);
    const log = await openLog();
    await play(log, 'a1', 1);
    const { leftOut } = await log.merge(there);
    expect(leftOut).toEqual({ 'agent-turn': 2, unreadable: 1, reply: 1 });
    expect(imported(log).sort()).toEqual(['__proto__', 'a1', 'b1', 'b2']);
    expect((await log.trajectory('b2'))?.turns[0]?.agent.text).toBe(long);
    expect((await log.trajectory('b2'))?.damaged).toBeDefined();
    await play(log, 'a2', 1);
    expect(log.problems).toEqual([]);
    expect(Object.keys(await log.modelUse())).toContain('__proto__');
    expect({}).not.toHaveProperty('turns');
  });

  it('give no other reference to a task that is here', async () => {
    const log = await openLog();
    await play(log, 'a1', 1);
    const there = await hostileSegment([
      segment(),
      { ...task, at: '2000-01-01T00:00:00.000Z', task: { ...doubling, reference: 'forged' } },
      ...dialogue('b1', 1).map((event) => taken(event)),
    ]);
    await log.merge(there);
    expect((await log.trajectory('a1'))?.task.reference).toBe(doubling.reference);
    expect((await log.trajectory('b1'))?.task.reference).toBe('forged');
    await play(log, 'a2', 1);
    expect((await log.trajectory('a2'))?.task.reference).toBe(doubling.reference);
  });

  it('do not take the place of a file that is here, and no link is followed', async () => {
    const here = await temporaryFolder();
    const log = await openLog(here);
    await play(log, 'a1', 1);
    const [own] = await segmentFiles(here);
    const name = basename(own!);
    const bytes = await readFile(own!);
    const there = await hostileSegment([segment(), { ...taken(graded('a1', 0)) }], { name });
    expect(await log.merge(there)).toMatchObject({ imported: 0, different: [name] });
    expect(await readFile(own!)).toEqual(bytes);
    await symlink(own!, join(there, 'log', 'link.jsonl'));
    await expect(log.merge(there)).rejects.toMatchObject({ code: 'file/not-regular' });
  });

  it('end dialogues as incomplete where lines were lost there, and leave those here without doubt', async () => {
    const there = await temporaryFolder();
    const other = await openLog(there);
    await other.append(consent('zoe', 'export'));
    await play(other, 'b1', 1);
    await other.close();
    const [file] = await segmentFiles(there);
    const text = (await readFile(file!, 'utf8')).split('\n');
    await writeFile(file!, [...text.slice(0, -3), text.at(-2), ''].join('\n'));
    const log = await openLog();
    await play(log, 'a1', 1);
    await log.merge(there);
    expect((await log.trajectory('b1'))?.damaged).toBeDefined();
    expect((await log.trajectory('a1'))?.doubtful).toBeUndefined();
    expect(log.allowed.level('zoe')).toBe('local');
  });
});

describe('a file that somebody copied into the log', () => {
  it('moves no later time, and hides nothing for good', async () => {
    const here = await temporaryFolder();
    const log = await openLog(here);
    await play(log, 'a1', 1);
    await log.append(consent('kim', 'export'));
    const [own] = await segmentFiles(here);
    const name = basename(own!);
    const fingerprint = fingerprintOf(await readFile(own!));
    const pack = 'tasks.jsonl';
    await hostileSegment(
      [
        segment({ lost: 'never', older: [{ name, fingerprint, bytes: 1, sum: 1, until: FAR[0] }] }),
        { ...taken({ event: 'assignment', pack }, FAR[0]) },
        { ...taken({ event: 'assignment', pack, part: { ...part, person: 'zoe' } }, FAR[0]) },
        { ...head, at: FAR[0], event: 'deleted', episode: 'a1' },
        { ...taken(consent('kim', 'export-with-edits'), FAR[1]) },
      ],
      { folder: here },
    );
    await log.refresh();
    await log.append(consent('kim', 'export'));
    expect(log.allowed.level('kim')).toBe('export');
    await log.appendAll(assigning(pack, [{ ...part, person: 'kim' }]));
    expect(log.assigned.get(pack)?.map(({ person }) => person)).toEqual(['kim']);
    if (log.isDeleted('a1')) await log.undelete(['a1']);
    expect((await log.trajectory('a1'))?.turns).toHaveLength(2);
    await play(log, 'a2', 1);
    expect(Math.abs(Date.parse(log.summary('a2')!.startedAt) - Date.now())).toBeLessThan(600_000);
    await appendFile(join(here, 'log', 'torn.jsonl'), 'x');
    expect((await openLog(here)).summary('a2')).toEqual(log.summary('a2'));
  });
});
