import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { joined, placed } from '../../../webview/chart/curves';
import { figures } from '../../../webview/chart/figures';

// The toolkit needs a browser.
vi.mock('@vscode/webview-ui-toolkit', () => import('./toolkit'));

// The import is dynamic, because views are another TypeScript program with browser types.
const webview = async <Module>(file: string): Promise<Module> =>
  (await import(path.resolve('webview', file))) as Module;

interface Lines {
  readonly pictureOf: (drawing: unknown) => {
    readonly series: (theme: unknown) => readonly { readonly id: string; readonly data: unknown }[];
  };
  readonly undrawn: (drawing: unknown) => string;
}
const { pictureOf, undrawn } = await webview<Lines>('chart/lines.ts');
const { hover: ofRuns } = await webview<{
  readonly hover: (lines: unknown, figure: unknown, axis: 'step' | 'time', x: number) => string;
}>('comparison/curveCharts.ts');

/** A curve of single steps. */
const curve = (...values: readonly (readonly [step: number, value: number])[]) =>
  placed(pointsOf(values), 'step');
/** The same curve over the training time, where a step takes six seconds. */
const timed = (...values: readonly (readonly [step: number, value: number])[]) =>
  placed(pointsOf(values), 'time');
const pointsOf = (values: readonly (readonly [step: number, value: number])[]) =>
  joined([], {
    from: 0,
    points: values.flatMap(([step, value]) => [step, step * 6, value, value, value]),
  });
describe('who points at a picture', () => {
  it('of several runs is told of each what it had there, and nothing after its end', () => {
    const lines = [
      { name: 'short', points: curve([1, 3], [100, 2]) },
      { name: 'long', points: curve([1, 3], [90, 1.5], [1000, 1]) },
    ];
    const hover = (x: number): string => ofRuns(lines, figures.loss, 'step', x);
    expect(hover(1)).toBe('step 1\nshort: 3.00\nlong: 3.00');
    expect(hover(100)).toBe('step 100\nshort: 2.00\nlong: 1.50 (step 90)');
    expect(hover(1000)).toBe('step 1,000\nlong: 1.00');
  });

  it('over the training time is told of the time, and of the step that was reached by then', () => {
    const lines = [
      { name: 'short', points: timed([1, 3], [20, 2]) },
      { name: 'long', points: timed([10, 1.5], [1000, 1]) },
    ];
    const hover = (x: number): string => ofRuns(lines, figures.loss, 'time', x);
    expect(hover(120)).toBe('2 min\nshort: 2.00 (step 20)\nlong: 1.50 (step 10)');
    expect(hover(6000)).toBe('1 h 40 min\nlong: 1.00 (step 1,000)');
  });
});

describe('a logarithmic scale', () => {
  const points = curve([1, 2], [2, 1], [3, 0], [4, 5], [5, -1], [6, 3], [7, 4]);
  const all = { from: 0, to: 10_000 };
  const line = (id: string, of: typeof points) => ({
    ...{ id, name: id, label: id, points: of, dashes: [], smoothing: 0, color: () => 'red' },
  });
  const drawing = {
    ...{ figure: figures.loss, isLogarithmic: true, key: '', hover: () => '' },
    ...{ zoom: { axis: 'step', stage: 'critic', all, shown: all } },
    lines: [line('training', points), line('held-out', curve([4, -1]))],
  };
  const dot = (...value: number[]): object => ({ value, symbol: 'circle' });
  const open = [[1, 2], [2, 1], [3, null], dot(4, 5), [5, null], [6, 3], [7, 4]];

  it('leaves a line open where it has no place for it, and says how often', () => {
    const drawn = pictureOf(drawing).series({});
    expect(drawn.map(({ id, data }) => [id, data])).toEqual([
      ['training', open],
      ['held-out', [[4, null]]],
    ]);
    expect(undrawn(drawing)).toMatch(/^3 of 8 points/);
    expect(undrawn({ ...drawing, isLogarithmic: false })).toBe('');
  });
});
