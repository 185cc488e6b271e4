import { describe, expect, it } from 'vitest';
import { wilson } from '../../../src/core/evaluation/interval';
import { courseOf, figuresOf, groupsOf, MAX_GROUPS } from '../../../src/core/evaluation/statistics';
import type { Outline } from '../../../src/core/trajectory/log';

const noon = new Date(2026, 2, 4, 12).getTime();
const DAY = 24 * 3600 * 1000;

function played({ day = 0, ...fields }: Partial<Outline> & { day?: number } = {}): Outline {
  return {
    id: 'e',
    task: 'task',
    agent: 'starter',
    collaborator: 'rules',
    startedAt: noon + day * DAY,
    isAnswered: true,
    turns: 3,
    success: null,
    leaked: false,
    ...fields,
  };
}

describe('statistics of a log', () => {
  it('average success per task first, with the interval of so many tasks', () => {
    const all = figuresOf([
      played({ success: true }),
      played({ success: false }),
      played({ success: false }),
      played({ task: 'other', success: true }),
      played({ task: 'third' }),
    ]);
    const value = (1 / 3 + 1) / 2;
    expect(all.success?.value).toBeCloseTo(value, 12);
    expect(all.success?.interval).toEqual(wilson(all.success!.value, 2));
    expect(all).toMatchObject({ dialogues: 5, graded: 4, leak: { value: 0 } });
  });

  it('average scores of pages per task first, apart by what measures them', () => {
    const page = { mode: 'fixed', measure: 'structure', version: 1, renderer: 'a test' } as const;
    const checks = { ...page, measure: 'checks', renderer: 'none' };
    const all = figuresOf([
      played({ success: true }),
      played({ task: 'a', page: { ...page, score: 0.4 } }),
      played({ task: 'a', page: { ...page, score: 0.6 } }),
      played({ task: 'b', page: { ...page, score: 0.8 } }),
      played({ task: 'c', success: false, page: { ...checks, score: 0.5 } }),
    ]);
    expect(all).toMatchObject({ dialogues: 5, graded: 2, success: { value: 0.5 } });
    expect(all.pages).toEqual([
      { scale: page, tasks: 2, dialogues: 3, score: { value: 0.65 } },
      { scale: checks, tasks: 1, dialogues: 1, score: { value: 0.5 } },
    ]);
  });

  it('have Ask-F1 over all questions and decisions, without dialogues that have none', () => {
    const asked = { asked: 4, missed: 0, useless: 8 };
    const all = figuresOf([
      { ...played(), asked },
      { ...played({ task: 'b' }), asked: { asked: 0, missed: 4, useless: 0 } },
      played(),
    ]);
    // 8 ÷ (8 + 4 + 8)
    expect(all.askF1).toEqual({ value: 0.4 });
    expect(figuresOf([played()])).not.toHaveProperty('askF1');
  });

  it('are given for each group, the largest first and the smallest together', () => {
    const many = Array.from({ length: MAX_GROUPS + 2 }, (_, index) => played({ agent: `a${index}` }));
    const groups = groupsOf([played({ agent: 'most' }), played({ agent: 'most' }), ...many], 'agent');
    expect(groups).toHaveLength(MAX_GROUPS);
    expect(groups[0]).toMatchObject({ name: 'most', dialogues: 2 });
    expect(groups.at(-1)).toMatchObject({ name: '4 others', dialogues: 4 });
  });

  it('go over time in hours, days, weeks or months, as the span asks for', () => {
    const units = [1, 10, 100, 1000].map((day) => courseOf([played(), played({ day })]).unit);
    expect(units).toEqual(['hour', 'day', 'week', 'month']);
    const { periods } = courseOf([played({ day: 3 }), played(), played({ day: 3 })]);
    expect(periods.map(({ from, dialogues }) => [new Date(from).getHours(), dialogues])).toEqual([
      [0, 1],
      [0, 2],
    ]);
    const [week] = courseOf([played(), played({ day: 100 })]).periods;
    expect(new Date(week!.from).getDay()).toBe(1);
  });
});
