import { describe, expect, it, vi } from 'vitest';
import type { PeoplesAgreement, Disagreement } from '../../../../src/core/evaluation/people/agreement';

import { Fault } from '../../../../src/core/fault';

vi.mock('vscode', () => import('../vscode'));

const { agreementView, measuresView, SHOWN } = await import('../../../../src/editor/people/panel');

const none = { alpha: undefined, units: 0, values: 0 };

const agreement = (fields: Partial<PeoplesAgreement> = {}): PeoplesAgreement => ({
  ...{ people: [], shared: 0, alpha: { stars: none, thumbs: none, choices: none }, disagreements: [] },
  ...fields,
});

const choice: Disagreement = {
  kind: 'choices',
  episode: 'a',
  title: 'Double a number',
  turn: 2,
  messages: ['I wonder.\nOUTPUT: What is n?', 'OUTPUT: I WANT TO ANSWER:\ndef double(n):\n    return 2 * n'],
  distance: 1,
  said: [
    { by: 'ada', value: 0 },
    { by: 'kim', value: 1 },
  ],
};

describe('the page about people', () => {
  it('shows of a candidate what people saw: the message without thoughts, or the answer', () => {
    const [shown] = agreementView(agreement({ disagreements: [choice] })).disagreements;
    expect(shown).toEqual({
      ...{ kind: 'choices', episode: 'a', title: 'Double a number', turn: 2, said: choice.said },
      messages: ['What is n?', 'def double(n):\n    return 2 * n'],
    });
  });

  it.each([
    [{ alpha: 0.9, interval: { low: 0.81, high: 0.97 } }, 'good'],
    [{ alpha: 0.9, interval: { low: 0.7, high: 0.97 } }, 'fair'],
    [{ alpha: 0.5, interval: { low: 0.3, high: 0.6 } }, 'poor'],
    [{ alpha: 0.9, interval: { low: 0.3, high: 1 } }, 'unsettled'],
    [{ alpha: 1 }, undefined],
    [{ alpha: undefined }, undefined],
  ])('says of alpha %o how far one may rely on it: %s', (figures, reliance) => {
    const stars = { ...figures, units: 12, values: 24 };
    const { alpha } = agreementView(agreement({ alpha: { stars, thumbs: none, choices: none } }));
    expect(alpha.stars.reliance).toBe(reliance);
    expect(alpha.stars).toMatchObject({ units: 12 });
    expect(alpha.thumbs).toEqual({ units: 0 });
  });

  it('shows some of the disagreements, and how many are left', () => {
    const many = Array.from({ length: SHOWN + 7 }, (_, index) => ({ ...choice, episode: `e${index}` }));
    const { disagreements, left } = agreementView(agreement({ disagreements: many }));
    expect(disagreements).toHaveLength(SHOWN);
    expect(left).toBe(7);
  });

  it('shows how often a measure of pages prefers the chosen one, or why that is not known', async () => {
    const interval = { low: 0.3, high: 0.95 };
    const scale = { measure: 'structure', version: 1, renderer: 'a test' };
    const measured = { ...scale, choices: 4, agreed: 3, rate: 0.75, interval, ties: 1 };
    const none = { ...scale, measure: 'checks', renderer: 'none', choices: 0, agreed: 0, rate: null };
    const found = { measures: [measured, { ...none, interval, ties: 2 }], undecided: 5, withoutPage: 6 };
    expect(await measuresView(Promise.resolve(found))).toEqual({
      measures: [
        { name: 'structure 1, drawn by a test', rate: { value: 0.75, interval, of: 4 }, ties: 1 },
        { name: 'checks 1', ties: 2 },
      ],
      undecided: 5,
      withoutPage: 6,
    });
    expect(await measuresView(Promise.reject(new Fault('page/no-browser', 'There is no browser.')))).toBe(
      'There is no browser.',
    );
    expect(await measuresView(Promise.resolve(undefined))).toBeUndefined();
  });
});
