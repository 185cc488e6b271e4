import { describe, expect, it } from 'vitest';
import { dealt, PackAssignment, partsFor } from '../../../src/core/dialogue/packAssignment';
import type { TaskState } from '../../../src/core/dialogue/taskProgress';
import type { Part } from '../../../src/core/trajectory/assignments';

const deals = [
  ...[1, 2, 3].map((perTask) => ({ places: 3, perTask, seed: 1 })),
  ...[2, 3, 5].map((perTask) => ({ places: 5, perTask, seed: 42 })),
  { places: 7, perTask: 4, seed: 7 },
  { places: 1, perTask: 1, seed: 0 },
];

/** Counts the tasks of each place. */
const loads = (tasks: readonly ReadonlySet<number>[], places: number): number[] =>
  Array.from({ length: places }, (_, place) => tasks.filter((of) => of.has(place)).length);

describe('Tasks that are dealt', () => {
  it.each(deals)('go to $perTask of $places places each, whose loads differ by one at most', (deal) => {
    for (const tasks of [0, 1, 2, 10, 41]) {
      const all = dealt(tasks, deal);
      expect(all.map(({ size }) => size)).toEqual(all.map(() => deal.perTask));
      const counts = loads(all, deal.places);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    }
  });
});

describe('The parts of a pack', () => {
  const peopleIn = (parts: readonly Part[]): string[] => parts.map(({ person }) => person);

  it('are the same whenever it is assigned to the same people, in whatever order they are named', () => {
    const parts = partsFor('a.jsonl', ['cleo', 'ada', 'ben'], 2);
    expect(peopleIn(parts)).toEqual(['ada', 'ben', 'cleo']);
    expect(partsFor('a.jsonl', ['ben', 'cleo', 'ada'], 2)).toEqual(parts);
    expect(partsFor('a.jsonl', ['ben', 'cleo', 'ada'], 2, parts)).toEqual(parts);
  });

  it('go first to those who have one, as in a log of before, and then to new people by their names', () => {
    const [shape] = partsFor('a.jsonl', ['ada', 'ben', 'cleo'], 1);
    const before = ['cleo', 'ada', 'ben'].map((person, place) => ({ ...shape!, person, place }));
    expect(partsFor('a.jsonl', ['ada', 'ben', 'cleo'], 1, before)).toEqual(before);
    const more = partsFor('a.jsonl', ['kim', 'ada', 'dee', 'cleo'], 1, before);
    expect(more.map(({ person, place, places }) => [person, place, places])).toEqual([
      ['cleo', 0, 4],
      ['ada', 1, 4],
      ['dee', 2, 4],
      ['kim', 3, 4],
    ]);
  });
});

describe('An assigned pack', () => {
  const tasks = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id }));
  const done: TaskState = { kind: 'done', episode: 'x', reward: 1 };
  const draft: TaskState = { kind: 'draft', episode: 'x', turns: 1 };
  const redo: TaskState = { kind: 'redo', episode: 'x' };

  const assigned = (
    people: readonly string[],
    perTask: number,
    played: Readonly<Record<string, Readonly<Record<string, TaskState>>>> = {},
  ): PackAssignment<{ readonly id: string }> => {
    const [first, ...others] = partsFor('a.jsonl', people, perTask);
    return new PackAssignment(tasks, [first!, ...others], (id) => new Map(Object.entries(played[id] ?? {})));
  };
  const idsOf = (of: PackAssignment<{ readonly id: string }>, person: string): string[] =>
    of.partOf(person).map(({ id }) => id);

  it('gives each person a part in the order of the pack, and others none', () => {
    const of = assigned(['ada', 'ben', 'cleo'], 2);
    const parts = ['ada', 'ben', 'cleo'].map((person) => idsOf(of, person));
    expect(parts.map(({ length }) => length)).toEqual([4, 4, 4]);
    for (const part of parts) expect(part).toEqual(part.toSorted());
    for (const { id } of tasks) expect(parts.filter((part) => part.includes(id))).toHaveLength(2);
    expect(idsOf(of, 'dee')).toEqual([]);
    expect(of.progressOf('dee')).toEqual({ done: 0, of: 0 });
  });

  it('counts what is finished, and neither drafts nor what is to be redone', () => {
    const played = { a: { ada: done }, b: { ada: draft }, c: { ada: redo }, d: { ben: done } };
    const of = assigned(['ada', 'ben'], 2, played);
    expect(of.progressOf('ada')).toEqual({ done: 1, of: 6 });
    expect(of.progressOf('ben')).toEqual({ done: 1, of: 6 });
    expect(of.progress).toEqual({ done: 2, of: 12 });
  });

  it('takes a task that others have finished from who has not begun it', () => {
    const fresh = assigned(['ada', 'ben'], 1);
    const [first, second] = idsOf(fresh, 'ada');
    const of = assigned(['ada', 'ben'], 1, { [first!]: { ben: done }, [second!]: { ben: done, ada: draft } });
    expect(idsOf(of, 'ada')).toEqual(idsOf(fresh, 'ada').slice(1));
    // More people than one have finished nothing more of it.
    expect(assigned(['ada', 'ben'], 1, { a: { ada: done, ben: done } }).progress).toEqual({ done: 1, of: 6 });
  });

  it('keeps everybody’s part when somebody was erased', () => {
    const [ada, , cleo] = partsFor('a.jsonl', ['ada', 'ben', 'cleo'], 2);
    const left = new PackAssignment(tasks, [ada!, cleo!], () => new Map());
    expect(left.people).toEqual(['ada', 'cleo']);
    const before = assigned(['ada', 'ben', 'cleo'], 2);
    for (const person of left.people) expect(idsOf(left, person)).toEqual(idsOf(before, person));
  });
});
