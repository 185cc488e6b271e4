import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { barPicture } from '../../../../src/core/evaluation/pictures/chart';
import { curvePicture } from '../../../../src/core/evaluation/pictures/curves';

/** Returns every text of a picture, by an XML parser, which rejects files that a browser would not show. */
function textsOf(svg: string): string[] {
  const read =
    'import sys, json, xml.etree.ElementTree as t\n' +
    "print(json.dumps([e.text for e in t.fromstring(sys.stdin.buffer.read()).iter() if e.tag.endswith('text')]))";
  return JSON.parse(execFileSync('python3', ['-c', read], { input: svg, encoding: 'utf8' })) as string[];
}

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
