import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { NewEvent } from '../../../../src/core/trajectory/event';
import type { ListOptions, TrajectoryLog } from '../../../../src/core/trajectory/log';
import type { TrajectorySummary } from '../../../../src/core/trajectory/trajectory';
import { doubling, graded, label, openLog, started, temporaryFolder } from '../../../fixtures/log';
import { seeded } from '../random';

type Random = () => number;

/** Parts of names and of texts to look for: letters whose lower case is special, and signs that SQL has for itself. */
const PARTS = [
  'a',
  'B',
  'ada',
  'Kelvin K',
  'İ',
  'ΟΔΟΣ',
  'ß',
  'É',
  '%',
  '_',
  '!',
  "'",
  '"',
  '\\',
  '*',
  '[',
  '🙂',
  '0',
  '12',
];

const oneOf = <T>(values: readonly T[], random: Random): T => values[Math.floor(random() * values.length)]!;

const name = (random: Random): string =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, () => oneOf(PARTS, random)).join(
    random() < 0.3 ? ' ' : '',
  );

/** Makes an id as Tandem makes them, the same in upper case, or one as somebody else may have. */
function anId(number: number, random: Random): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  if (random() < 0.6) return uuid;
  return random() < 0.3 ? uuid.toUpperCase() : `${name(random)} ${number}`;
}

/** Makes a dialogue, of which people may say something, or take it back, and which may be deleted. */
function aDialogue(episode: string, names: readonly string[], random: Random): NewEvent[] {
  const some = (): string => oneOf(names, random);
  const person = () => ({ kind: 'developer' as const, name: some() });
  const chance = (probability: number, event: NewEvent): NewEvent[] =>
    random() < probability ? [event] : [];
  const said = { title: some(), tags: [some(), some()], note: some() };
  return [
    started(episode, {
      task: some(),
      agent: some(),
      collaborator: random() < 0.5 ? person() : { kind: 'simulator', name: some() },
      ...(random() < 0.5 && { pack: some() }),
      ...(random() < 0.5 && { collection: some() }),
    }),
    ...chance(0.2, { event: 'hand-over', episode, turn: 1, to: person() }),
    ...chance(0.2, { event: 'hand-over', episode, turn: 1, to: { kind: 'simulator', name: some() } }),
    ...chance(0.5, label(episode, some(), said)),
    ...chance(0.2, label(episode, some(), { note: some() })),
    ...chance(0.1, label(episode, 'kim', said)),
    ...chance(0.1, label(episode, 'kim')),
    ...chance(0.5, graded(episode, Math.round(random()))),
    ...chance(0.1, { event: 'deleted', episode }),
  ];
}

/** Tells without an index whether a dialogue has a text; of ids only the letters of ASCII have two cases. */
function has(row: TrajectorySummary, text: string, named: ReadonlySet<string>): boolean {
  const wanted = text.trim().toLowerCase();
  if (row.id.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()).includes(wanted)) return true;
  const { taskId, pack, agent, collaborator, player, title, note, tags = [] } = row;
  const names = [taskId, pack, agent, collaborator.name, player, title, note, `\n${tags.join('\n')}\n`];
  return names.some((each) => each !== undefined && (each.toLowerCase().includes(wanted) || named.has(each)));
}

/**
 * Compares pages of lists that random texts narrow with the same part of the whole list.
 * @returns the number of rows on the pages
 */
function compare(log: TrajectoryLog, names: readonly string[], random: Random): number {
  const newest = log.list({ offset: 0, limit: Infinity }).rows;
  let found = 0;
  for (let asked = 0; asked < 60; asked += 1) {
    const sort = oneOf(['newest', 'oldest'] as const, random);
    const all = sort === 'newest' ? newest : newest.toReversed();
    const row = oneOf(all, random);
    const whole = random() < 0.5 ? name(random) : oneOf([row.id, row.note ?? row.id, row.agent], random);
    const letters = Array.from(whole);
    const from = Math.floor(random() * letters.length);
    const text = ` ${letters.slice(from, from + 1 + Math.floor(random() * 5)).join('')}`;
    if (text.trim() === '') continue;
    const named = new Set(random() < 0.5 ? [] : [oneOf(names, random), oneOf(names, random), 'not there']);
    const success = oneOf([undefined, true, false], random);
    const after = random() < 0.3 ? row.id : undefined;
    const filter = { text, named, ...(success !== undefined && { success }) };
    const expected = all
      .slice(after === undefined ? 0 : all.indexOf(row) + 1)
      .filter((each) => has(each, text, named))
      .filter((each) => success === undefined || each.grades.fixed?.success === success);
    const options: ListOptions = {
      ...{ filter, sort, offset: Math.floor(random() * 3), limit: oneOf([0, 2, 5, 99], random) },
      ...(after !== undefined && { after }),
    };
    const rows = expected.slice(options.offset, options.offset + options.limit);
    expect({ options, ...log.list(options) }).toEqual({ options, rows, total: expected.length });
    if (after === undefined) expect(log.count(filter).total).toBe(expected.length);
    found += rows.length;
  }
  return found;
}

it('a text finds what a look at every dialogue finds, in logs of any names that several processes write', async () => {
  const random = seeded(5);
  const folder = await temporaryFolder();
  const logs = await Promise.all([1, 2].map(() => openLog(folder, { segmentBytes: 20_000 })));
  const names = Array.from({ length: 60 }, () => name(random));
  for (const log of logs) for (const each of new Set(names)) await log.recordTask({ ...doubling, id: each });
  let found = 0;
  for (let round = 0; round < 6; round += 1) {
    const events = Array.from({ length: 100 }, (_, number) =>
      aDialogue(anId(100 * round + number, random), names, random),
    );
    await oneOf(logs, random).appendAll(events.flat());
    for (const log of logs) {
      await log.refresh();
      found += compare(log, names, random);
    }
  }
  for (const log of logs) await log.close();
  found += compare(await openLog(folder), names, random);
  await rm(join(folder, 'index'), { recursive: true });
  found += compare(await openLog(folder), names, random);
  expect(found).toBeGreaterThan(1000);
});
