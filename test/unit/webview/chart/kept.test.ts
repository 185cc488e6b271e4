import { describe, expect, it } from 'vitest';
import { choiceOf, lookOf } from '../../../../webview/chart/kept';
import type { Look } from '../../../../webview/chart/protocol';
import { formOf } from '../../../../webview/newRun/kept';
import { malformed, strangers, type Malformed } from '../../../fixtures/messages/malformed';

const look: Look = {
  ...{ smoothing: 0.9, isLogarithmic: true, asTable: true, axis: 'time' },
  steps: { stage: 'critic', from: 1, to: 20 },
};
const choice = { stage: 'critic', figure: 'kl' } as const;
const form = {
  ...{ dataFolder: '/w/.tandem', values: { base: '/models/tiny' }, isUnfolded: true },
  copied: { of: 'Run', configuration: { method: 'rft' }, data: '12 trajectories' },
};

const changed = (kept: unknown): readonly Malformed[] => [...malformed(kept)];

describe('what the editor has kept of a page', () => {
  it('is taken as it was', () => {
    expect(lookOf({ ...look, id: 'r1' })).toEqual(look);
    expect(lookOf({ ...look, steps: { share: 0.5 } }).steps).toEqual({ share: 0.5 });
    // An older page kept no axis.
    const { axis: _, ...older } = look;
    expect(lookOf(older)).toEqual({ ...look, axis: 'step' });
    expect(choiceOf({ choice })).toEqual(choice);
    expect(formOf(form)).toEqual(form);
  });

  it('is as if it had never been kept where it is nothing', () => {
    for (const kept of strangers) {
      expect(lookOf(kept)).toEqual(lookOf(undefined));
      expect(choiceOf(kept)).toEqual({});
      expect(formOf(kept)).toBeUndefined();
    }
  });

  it('counts in each part that fits, and in no other', () => {
    for (const { what, message } of changed(look)) {
      const { smoothing, isLogarithmic, asTable, axis, steps } = lookOf(message);
      expect(['step', 'time'], what).toContain(axis);
      expect([typeof isLogarithmic, typeof asTable], what).toEqual(['boolean', 'boolean']);
      expect(smoothing >= 0 && smoothing < 1, what).toBe(true);
      const numbers = 'share' in steps ? [steps.share] : [steps.from, steps.to];
      expect(numbers.every(Number.isFinite), what).toBe(true);
    }
    for (const { what, message } of changed({ choice })) {
      const { stage, figure } = choiceOf(message);
      expect([undefined, 'kl'], what).toContain(figure);
      expect(['string', 'undefined'], what).toContain(typeof stage);
    }
  });

  it('is no form when a part of it is missing or is something else', () => {
    for (const { what, message } of changed(form)) {
      const read = formOf(message);
      if (read === undefined) continue;
      expect(typeof read.dataFolder, what).toBe('string');
      expect(
        Object.values(read.values)
          .map((value) => typeof value)
          .filter((type) => type !== 'string'),
        what,
      ).toEqual([]);
      expect([undefined, true], what).toContain(read.isUnfolded);
      expect(typeof (read.copied?.of ?? ''), what).toBe('string');
    }
    expect(formOf({ ...form, copied: 'x' })).toBeUndefined();
  });
});
