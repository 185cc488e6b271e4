import { describe, expect, it } from 'vitest';
import { joined, outline, placed, smoothed } from '../../../../webview/chart/curves';

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
