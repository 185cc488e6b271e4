import { describe, expect, it } from 'vitest';
import type { Axis, Steps } from '../../../../webview/chart/protocol';
import {
  allSteps,
  between,
  inRange,
  lineInRange,
  moved,
  rangeWords,
  zoomed,
  zoomOf,
} from '../../../../webview/chart/axis';

const curve = (...places: number[]) => places.map((x) => ({ x }));
/** Steps 1 to 101 of a critic. */
const look = (steps: Steps, axis: Axis = 'step') =>
  zoomOf({ steps, axis }, 'critic', [curve(1, 50, 101), curve(20, 40), []]);
const own = (from: number, to: number, stage = 'critic'): Steps => ({ stage, from, to });

describe('the steps that are looked at', () => {
  it('are all, the last of them, or those between two', () => {
    expect(look(allSteps).shown).toEqual({ from: 1, to: 101 });
    expect(look({ share: 0.1 }).shown.from).toBe(91);
    expect(look(own(30, 60)).shown).toEqual({ from: 30, to: 60 });
    expect(look(own(30, 600)).shown).toEqual({ from: 30, to: 101 });
  });

  it('are all where they are those of another stage, or of nothing that is there', () => {
    for (const steps of [own(30, 60, 'policy'), own(300, 600)]) {
      const { all, shown } = look(steps);
      expect(shown).toBe(all);
    }
    expect(zoomOf({ steps: allSteps, axis: 'step' }, '', []).shown).toEqual({ from: 0, to: 0 });
  });

  it('are half as many or twice as many around their middle, two at least', () => {
    expect(zoomed(look(allSteps), 0.5)).toEqual(own(26, 76));
    expect(zoomed(look(own(20, 40)), 2)).toEqual(own(10, 50));
    expect(zoomed(look(own(1, 11)), 2)).toEqual(own(1, 21));
    expect(zoomed(look(own(26, 76)), 2)).toEqual(allSteps);
    expect(zoomed(look(own(50, 52)), 0.5)).toEqual(own(50, 52));
    // A second is the least of a training time.
    expect(zoomed(look(own(50, 52), 'time'), 0.5)).toEqual(own(50.5, 51.5));
  });

  it('are moved as far as there are any', () => {
    expect(moved(look(own(41, 61)), 0.5)).toEqual(own(51, 71));
    expect(moved(look(own(11, 31)), -1)).toEqual(own(1, 21));
    expect(moved(look(allSteps), 0.5)).toEqual(allSteps);
  });

  it('are those that a person has drawn the picture to, in percent of all', () => {
    expect(between(look(allSteps), 10, 60)).toEqual(own(11, 61));
    expect(between(look(own(11, 61)), 0, 100)).toEqual(allSteps);
  });

  it('are named, and cut from points and from lines, which go on to the edge of the picture', () => {
    expect(rangeWords({ axis: 'step', shown: { from: 1199.4, to: 1300.7 } })).toBe('1,200 to 1,300');
    expect(rangeWords({ axis: 'time', shown: { from: 4.25, to: 3750 } })).toBe('4.3 s to 1 h 2 min 30 s');
    const range = { from: 15, to: 35 };
    expect(inRange(curve(10, 20, 30, 40), range)).toEqual(curve(20, 30));
    const line = [10, 20, 30, 40, 50].map((step) => [step, 0] as const);
    expect(lineInRange(line, range).map(([step]) => step)).toEqual([10, 20, 30, 40]);
    expect(lineInRange(line, { from: 60, to: 70 })).toEqual([]);
  });
});
