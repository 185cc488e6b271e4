import { describe, expect, it } from 'vitest';
import { barPicture } from '../../../../src/core/evaluation/pictures/bars';
import { textsOf } from './texts';

const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;

const bars = (names = ['sampled', 'greedy']): string =>
  barPicture({
    title: 'Success <before & after>',
    categories: names,
    series: [
      { name: 'before', bars: [{ value: 0.31, interval: { low: 0.25, high: 0.37 } }, null] },
      { name: 'after', bars: [{ value: 0.45, interval: { low: 0.39, high: 0.52 } }, { value: 0.4 }] },
    ],
    format: percent,
  });

describe('a picture of bars', () => {
  it('writes every value beside its bar, and leaves out what was not measured', () => {
    const texts = textsOf(bars());
    expect(texts).toEqual(expect.arrayContaining(['sampled', 'greedy', 'before', 'after', '31 %', '45 %']));
    expect(texts).toContain('Success <before & after>');
  });

  it('draws a whisker of three lines for each interval', () => {
    const strokes = bars().match(/stroke-width="1\.5"/g) ?? [];
    expect(strokes).toHaveLength(6);
  });
});
