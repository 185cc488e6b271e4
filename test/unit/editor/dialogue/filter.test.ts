import { describe, expect, it } from 'vitest';
import type { TrajectoryCounts, TrajectoryFilter } from '../../../../src/core/trajectory/log';
import {
  chosenOf,
  days,
  dayOf,
  filterSchema,
  filterWords,
  isFiltered,
  namedFilter,
} from '../../../../src/editor/dialogue/filter';
import { recall } from '../../../../src/editor/recall';
import { english } from '../translate';

describe('a filter in words', () => {
  it('names what it is narrowed to', () => {
    expect(filterWords({}, english)).toBe('');
    expect(isFiltered({ agent: undefined, since: undefined })).toBe(false);
    const filter = {
      ...({ source: 'played', outcome: 'failure', review: 'redo' } as const),
      ...{ pack: 'a.jsonl', agent: 'starter', stars: 3, leaked: false },
      ...{ text: 'x', tag: 'odd', run: 'Night run', lastDays: 1 },
    };
    expect(filterWords(filter, english).split(' · ')).toEqual([
      ...['played', 'failed a test', '3 stars or more', 'to be redone', 'without a leak', 'today'],
      ...['#odd', 'pack a.jsonl', 'agent starter', 'run Night run', '“x”'],
    ]);
    expect(filterWords({ lastDays: 7 }, english)).toBe('the last 7 days');
  });

  it('takes days of local time, the last one included', () => {
    const filter = days('2026-03-01', '2026-03-02');
    expect(filterWords(filter, english)).toBe('from 2026-03-01 to 2026-03-02');
    expect(Date.parse(filter.until!) - Date.parse(filter.since!)).toBe(2 * 24 * 3600 * 1000);
    expect(filterWords(days('2026-03-01', '2026-03-01'), english)).toBe('on 2026-03-01');
    expect(filterWords(days(undefined, '2026-03-01'), english)).toBe('up to 2026-03-01');
    expect(filterWords(days(dayOf(Date.UTC(2026, 2, 5, 12)), undefined), english)).toBe('since 2026-03-05');
  });

  it('is the same after a reload, and none when what was kept is something else', () => {
    const filter = {
      ...days('2026-03-01', '2026-03-02'),
      ...{ source: 'collected', run: '7', tag: 'odd', outcome: 'failure', stars: 3, text: 'x', lastDays: 7 },
      review: 'none',
    } as const;
    const recalled = (kept: unknown) => recall({ get: () => kept }, 'filter', filterSchema);
    expect(recalled(JSON.parse(JSON.stringify({ ...filter, pack: undefined })))).toEqual(filter);
    for (const kept of [
      undefined,
      'text',
      { stars: 9 },
      { outcome: 'won' },
      { since: 'yesterday' },
      { player: 'ada' },
    ])
      expect(recalled(kept)).toBeUndefined();
  });

  it('finds the agents of its run and the date of its last days anew each time, and keeps neither', () => {
    const agents = ['local:7/model', '/data/7/model', 'local:8/model', 'starter'];
    const log = {
      count: () => ({ total: 0 }) as TrajectoryCounts,
      valuesOf: () => agents.map((value) => ({ value, count: 1 })),
      namesOf: () => agents,
    };
    const namer = {
      calledBy: (name: string) => name,
      runOf: (agent: string) => (agent.includes('7') ? { id: '7', name: 'Night run' } : undefined),
    };
    const chosen = { run: '7', lastDays: 7, until: '2030-01-01T00:00:00.000Z' };
    const named = namedFilter(chosen, new Map(), log, namer);
    expect(named.agents).toEqual(new Set(['local:7/model', '/data/7/model']));
    const { since } = days(dayOf(Date.now() - 6 * 24 * 3600 * 1000), undefined);
    expect(named.since).toBe(since);
    expect(chosenOf(named)).toEqual(chosen);
    expect(namedFilter({ run: '9' }, new Map(), log, namer).agents).toEqual(new Set());
  });

  it('finds its text in titles of tasks and in names of models', () => {
    const titles = new Map([
      ['3ead', { title: 'Taxi fare' }],
      ['81bc', { title: 'Parcel surcharge' }],
    ]);
    // A person has the pseudonym that the settings give a model.
    const log = {
      count: ({ collaborator }: TrajectoryFilter = {}) =>
        ({ total: collaborator === 'cabby' ? 1 : 0 }) as TrajectoryCounts,
      valuesOf: () => [],
      namesOf: (column: string) => (column === 'agent' ? ['local:run-7'] : ['sim', 'cabby', 'kim']),
    };
    const called = new Map([
      ['local:run-7', 'Taxi driver'],
      ['sim', 'TAXI'],
      ['cabby', 'Taxi guest'],
    ]);
    const namer = { calledBy: (name: string) => called.get(name) ?? name, runOf: () => undefined };
    const named = namedFilter({ text: 'taxi ', stars: 3 }, titles, log, namer);
    expect(named).toEqual({ text: 'taxi ', stars: 3, named: new Set(['3ead', 'local:run-7', 'sim']) });
    expect(namedFilter({ stars: 3 }, titles, log, namer)).toEqual({ stars: 3 });
  });
});
