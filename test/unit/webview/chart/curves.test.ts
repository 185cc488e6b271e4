import { describe, expect, it } from 'vitest';
import { announcement } from '../../../../webview/run/announce';
import { joined, outline, placed, smoothed } from '../../../../webview/chart/curves';
import type { StageView } from '../../../../webview/run/protocol';

const curve = joined([], { from: 0, points: [1, 4, 5, 5, 5, 3, 12, 7, 6, 9, 10, 40, 2, 2, 2] });
const points = placed(curve, 'step');

describe('a curve that comes in pieces', () => {
  it('gets its new end in the place of what is no longer so', () => {
    expect(points.map(({ step }) => step)).toEqual([1, 3, 10]);
    const longer = joined(points, { from: 2, points: [10, 40, 3, 1, 5, 11, 44, 4, 4, 4] });
    expect(longer.map(({ step, mean }) => [step, mean])).toEqual([
      [1, 5],
      [3, 7],
      [10, 3],
      [11, 4],
    ]);
  });

  it('is drawn through its lowest and highest values, over steps or over time', () => {
    expect(outline(points)).toEqual([
      [1, 5],
      [3, 9],
      [10, 2],
      [10, 2],
    ]);
    expect(outline(placed(curve, 'time')).map(([seconds]) => seconds)).toEqual([4, 12, 40, 40]);
  });
});

it('smoothing leaves a level line where it is, is nothing when it is none, and follows slowly when it is much', () => {
  for (const value of smoothed([4, 4, 4], 0.9)) expect(value).toBeCloseTo(4);
  expect(smoothed([1, 9], 0)).toEqual([1, 9]);
  expect(smoothed([1, 1, 1, 9], 0.9)[3]).toBeLessThan(4);
});

describe('what a screen reader is told', () => {
  const stage = (fraction?: number, name = 'critic'): StageView => ({
    ...{ name, label: name, state: 'now', hasCurves: true },
    ...(fraction !== undefined && { fraction }),
  });
  const view = (...stages: StageView[]) =>
    ({ state: 'running', stateLabel: 'running', sentence: '', caution: '', stages }) as const;

  it('is each tenth, each stage and each state', () => {
    expect(announcement(view(stage(0.39)), view(stage(0.4)))).toBe('critic 40 %');
    expect(announcement(view(stage(0.9)), view(stage(undefined, 'policy')))).toBe('policy');
    const done = { ...view(), state: 'done', stateLabel: 'done', sentence: 'All is well.' } as const;
    expect(announcement(view(stage(0.9)), done)).toBe('done. All is well.');
  });
});
