import { describe, expect, it } from 'vitest';
import { choiceOf, lookOf } from '../../../../webview/chart/savedChart';
import type { Look } from '../../../../webview/chart/protocol';

const look: Look = {
  ...{ smoothing: 0.9, isLogarithmic: true, asTable: true, axis: 'time' },
  steps: { stage: 'critic', from: 1, to: 20 },
};
const choice = { stage: 'critic', figure: 'kl' } as const;

describe('what the editor has kept of a page', () => {
  it('is taken as it was', () => {
    expect(lookOf({ ...look, id: 'r1' })).toEqual(look);
    expect(lookOf({ ...look, steps: { share: 0.5 } }).steps).toEqual({ share: 0.5 });
    // An older page kept no axis.
    const { axis: _, ...older } = look;
    expect(lookOf(older)).toEqual({ ...look, axis: 'step' });
    expect(choiceOf({ choice })).toEqual(choice);
  });

  it.each([undefined, null, 7, 'text', [], {}])('is as if it had never been kept where it is %j', (kept) => {
    expect(lookOf(kept)).toEqual(lookOf(undefined));
    expect(choiceOf(kept)).toEqual({});
  });

  it('counts in each part that fits, and in no other', () => {
    const none = lookOf(undefined);
    expect(lookOf({ ...look, smoothing: 'much' })).toEqual({ ...look, smoothing: none.smoothing });
    expect(lookOf({ ...look, smoothing: 2 }).smoothing).toBe(none.smoothing);
    expect(lookOf({ ...look, steps: { share: 'x' } })).toEqual({ ...look, steps: none.steps });
    expect(choiceOf({ choice: { stage: 7, figure: '__proto__' } })).toEqual({});
  });
});
