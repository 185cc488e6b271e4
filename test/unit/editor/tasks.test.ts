import { describe, expect, it } from 'vitest';
import { nextUnfinished } from '../../../src/editor/tasks/next';
import type { TaskState } from '../../../src/editor/tasks/progress';
import { excerpt, searchTasks } from '../../../src/editor/tasks/search';
import { counted, standingOf, stateWords } from '../../../src/editor/tasks/standing';
import { statusLine, type Playing } from '../../../src/editor/statusLine';
import { english } from './translate';

const done = { kind: 'done', episode: 'a', reward: 0.7 } as const;
const draft = { kind: 'draft', episode: 'b', turns: 3 } as const;

describe('Where a task stands', () => {
  it('is counted for a pack', () => {
    expect(counted([done, draft, done, { kind: 'skipped', episode: 'c' }, { kind: 'new' }], english)).toBe(
      '2 done · 1 draft · 1 skipped',
    );
    expect(counted([{ kind: 'new' }], english)).toBe('');
  });

  it('stands behind its title in words', () => {
    const words = [
      { kind: 'new' } as const,
      draft,
      { ...draft, turns: 1 },
      { ...draft, turns: 0 },
      done,
      { ...done, reward: null },
      { ...done, reward: undefined },
      { kind: 'skipped', episode: 'c' } as const,
      { kind: 'skipped', episode: 'c', reason: 'The request is unclear' } as const,
    ].map((state) => stateWords(state, 10, english));
    expect(words).toEqual([
      '',
      'draft, 3 turns',
      'draft, 1 turn',
      'draft',
      '7/10 tests',
      'not gradable here',
      'not graded yet',
      'skipped',
      'skipped: the request is unclear',
    ]);
  });

  it('keeps an acronym at the beginning of a reason as it is', () => {
    const state = { kind: 'skipped', episode: 'c', reason: 'IBAN rules are missing' } as const;
    expect(stateWords(state, 1, english)).toBe('skipped: IBAN rules are missing');
  });

  it('tells a finished dialogue by its result', () => {
    expect(standingOf({ ...done, reward: 1 })).toBe('passed');
    expect(standingOf({ ...done, reward: 0 })).toBe('failed');
    expect(standingOf({ ...done, reward: null })).toBe('ungraded');
    expect(standingOf(draft)).toBe('draft');
  });
});

describe('The next task', () => {
  const states: Readonly<Record<string, TaskState>> = {
    one: draft,
    two: done,
    three: { kind: 'new' },
    four: { kind: 'skipped', episode: 'd' },
  };
  const next = (after?: string, ids = Object.keys(states)): string | undefined =>
    nextUnfinished(
      ids.map((id) => ({ id })),
      after,
      ({ id }) => states[id]!,
    )?.id;

  it('is the first that is not played to its end, from the beginning after the end', () => {
    expect(next()).toBe('one');
    expect(next('one')).toBe('three');
    expect(next('three')).toBe('one');
  });

  it('is none when nothing but the task itself is left', () => {
    expect(next('three', ['two', 'three', 'four'])).toBeUndefined();
  });
});

describe('The search for a task', () => {
  const tasks = [
    { id: 'a1', title: 'Hotel stay', description: 'The price of a night. Parcels are extra.' },
    { id: 'b2', title: 'Parcel surcharge', description: 'What a heavy box costs in zone 3.' },
    { id: 'parcel-3', title: 'Box', description: 'Anything.' },
  ];

  const titles = (query: string, limit = 10): string[] =>
    searchTasks(tasks, query, limit).tasks.map(({ title }) => title);

  it('finds words in any case, in the title before the description and the id', () => {
    expect(titles('PARCEL')).toEqual(['Parcel surcharge', 'Hotel stay', 'Box']);
  });

  it('wants every word, wherever each of them stands', () => {
    expect(titles('surcharge zone')).toEqual(['Parcel surcharge']);
    expect(titles('surcharge night')).toEqual([]);
  });

  it('finds everything while nothing is typed, and says how many there are beyond its limit', () => {
    expect(titles(' ')).toHaveLength(3);
    expect(searchTasks(tasks, '', 2)).toMatchObject({ total: 3 });
    expect(titles('', 2)).toEqual(['Hotel stay', 'Parcel surcharge']);
  });

  it('searches ten thousand tasks', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      id: `t${index}`,
      title: `Task ${index}`,
      description: `${'words and words '.repeat(40)} number-${index}.`,
    }));
    expect(searchTasks(many, 'number-9999.', 10).tasks.map(({ id }) => id)).toEqual(['t9999']);
  });

  it('shows the place that was found, on one line', () => {
    const description = `${'Before it much is said. '.repeat(20)}\nThen comes the surcharge. ${'And more. '.repeat(40)}`;
    const shown = excerpt(description, 'surcharge');
    expect(shown).toMatch(/^….*Then comes the surcharge\. .*…$/);
    expect(excerpt('Short.', 'nothing')).toBe('Short.');
  });
});

describe('The line of the status bar', () => {
  const playing = (title: string, phase: Playing['state']['phase']): Playing => ({
    title,
    state: { phase, turn: 2, maxTurns: 6 },
  });
  const line = (...open: Playing[]) => statusLine(open, english);

  it('is not there while no session is open', () => {
    expect(line()).toBeUndefined();
  });

  it('says what goes on, and what a click does', () => {
    expect(line(playing('Parcels', 'agent'))).toMatchObject({
      icon: 'sync~spin',
      text: 'Tandem: agent writes, turn 2/6',
      tooltip: 'Parcels: agent writes, turn 2/6.\nClick to show the session.',
    });
  });

  it('tells first of the session that waits for the person', () => {
    const said = line(playing('One', 'agent'), playing('Two', 'over'), playing('Three', 'developer'));
    expect(said?.playing.title).toBe('Three');
    expect(said?.text).toBe('Tandem: your turn, 2/6');
    expect(said?.tooltip).toMatch(/2 more sessions are open\.$/);
  });

  it('says what came of a dialogue that is over', () => {
    const headline = '8 of 10 tests passed';
    const over = playing('One', 'over');
    const grade = { headline, success: false, mode: 'fixed', tests: [] } as const;
    expect(line({ ...over, state: { ...over.state, grade } })?.text).toBe(`Tandem: ${headline}`);
    expect(line(over)?.text).toBe('Tandem: not graded yet');
  });
});
