import { describe, expect, it } from 'vitest';
import { curvePicture } from '../../../../src/core/evaluation/pictures/curves';
import { textsOf } from './texts';

const percent = (value: number): string => `${(100 * value).toFixed(0)} %`;

const curves = (): string =>
  curvePicture({
    title: 'Critic',
    panels: [
      {
        title: 'loss',
        curves: [{ name: 'training', points: [[1, 0.7], [2, 0.6]], isNoisy: true }], // prettier-ignore
        format: (value) => value.toFixed(2),
      },
      {
        title: 'pairs in the right order',
        curves: [{ name: 'held out', points: [[1, 0.5], [2, 0.7]] }], // prettier-ignore
        format: percent,
        line: { at: 0.5, name: 'chance' },
      },
    ],
  });

describe('a picture of learning curves', () => {
  it('has a panel for each figure, with what chance would give', () => {
    const texts = textsOf(curves());
    expect(texts).toEqual(expect.arrayContaining(['loss', 'pairs in the right order', 'training', 'held out', 'chance'])); // prettier-ignore
  });
});
