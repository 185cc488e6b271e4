import { describe, expect, it } from 'vitest';
import type { TrajectoryCounts } from '../../../../src/core/trajectory/log';
import {
  days,
  dayOf,
  filterSchema,
  filterWords,
  isFiltered,
  namedFilter,
  validateDay,
} from '../../../../src/editor/trajectories/filter';
import { recall } from '../../../../src/editor/memory';
import { english } from '../translate';

describe('a filter in words', () => {
  it('names what it is narrowed to', () => {
    expect(filterWords({}, english)).toBe('');
    expect(isFiltered({ agent: undefined, since: undefined })).toBe(false);
    expect(
      filterWords(
        {
          pack: 'a.jsonl',
          agent: 'starter',
          outcome: 'failure',
          stars: 3,
          leaked: false,
          text: 'x',
        },
        english,
      ),
    ).toBe('failed a test · 3 stars or more · without a leak · pack a.jsonl · agent starter · “x”');
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
    const filter = { ...days('2026-03-01', '2026-03-02'), outcome: 'failure', stars: 3, text: 'x' } as const;
    const recalled = (kept: unknown) => recall({ get: () => kept }, 'filter', filterSchema);
    expect(recalled(JSON.parse(JSON.stringify({ ...filter, pack: undefined })))).toEqual(filter);
    for (const kept of [undefined, null, 'text', { stars: 9 }, { outcome: 'won' }, { since: 'yesterday' }]) {
      expect(recalled(kept)).toBeUndefined();
    }
  });

  it('finds its text in titles of tasks and in names of models', () => {
    const titles = new Map([
      ['3ead', { title: 'Taxi fare' }],
      ['81bc', { title: 'Parcel surcharge' }],
    ]);
    const log = {
      count: () => ({ total: 0 }) as TrajectoryCounts,
      valuesOf: (column: string) => (column === 'agent' ? [{ value: 'local:run-7', count: 2 }] : []),
    };
    const namer = { calledBy: (name: string) => (name === 'local:run-7' ? 'Taxi driver' : name) };
    const named = namedFilter({ text: 'taxi ', stars: 3 }, titles, log, namer);
    expect(named).toEqual({ text: 'taxi ', stars: 3, named: new Set(['3ead', 'local:run-7']) });
    expect(namedFilter({ stars: 3 }, titles, log, namer)).toEqual({ stars: 3 });
  });

  it('refuses what is no day', () => {
    expect(validateDay('2026-02-28', english)).toBeUndefined();
    expect(validateDay('', english)).toBeUndefined();
    for (const wrong of ['yesterday', '2026-02-30', '1.3.2026'])
      expect(validateDay(wrong, english)).toMatch(/year-month-day/);
  });
});
