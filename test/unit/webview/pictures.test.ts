import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { joined } from '../../../webview/chart/curves';
import { figures } from '../../../webview/chart/figures';

// Views are another program, checked with types of the browser.
const webview = async <Module>(file: string): Promise<Module> =>
  (await import(path.resolve('webview', file))) as Module;

interface Picture {
  readonly hover: (step: number) => string;
}
type PictureOf = (...drawn: unknown[]) => Picture;
const { pictureOf: ofRuns } = await webview<{ pictureOf: PictureOf }>('comparison/lines.ts');
const { pictureOf: ofRun } = await webview<{ pictureOf: PictureOf }>('run/drawing.ts');

/** A curve of single steps. */
const curve = (...values: readonly (readonly [step: number, value: number])[]) =>
  joined([], { from: 0, points: values.flatMap(([step, value]) => [step, value, value, value]) });
const drawing = { figure: figures.loss, smoothing: 0, isLogarithmic: false, key: '' };

describe('who points at a picture', () => {
  it('of several runs is told of each what it had there, and nothing after its end', () => {
    const lines = [
      { index: 0, name: 'short', points: curve([1, 3], [100, 2]) },
      { index: 1, name: 'long', points: curve([1, 3], [90, 1.5], [1000, 1]) },
    ];
    const { hover } = ofRuns(lines, drawing);
    expect(hover(1)).toBe('step 1\nshort: 3.00\nlong: 3.00');
    expect(hover(100)).toBe('step 100\nshort: 2.00\nlong: 1.50 (step 90)');
    expect(hover(1000)).toBe('step 1,000\nlong: 1.00');
  });

  it('of one run is told of training from its first step to its last', () => {
    const { hover } = ofRun({ ...drawing, training: curve([1, 3], [2, 2]), heldOut: curve([0, 4]) });
    expect(hover(0)).toBe('step 0\nheld out 4.00 (step 0)');
    expect(hover(2)).toBe('step 2\ntraining 2.00\nheld out 4.00 (step 0)');
  });
});
