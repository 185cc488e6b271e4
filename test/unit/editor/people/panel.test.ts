import { describe, expect, it, vi } from 'vitest';
import type { PeoplesAgreement, Disagreement } from '../../../../src/core/evaluation/people/agreement';

vi.mock('vscode', () => import('../vscode'));

const { agreementView, SHOWN } = await import('../../../../src/editor/statistics/panel');

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

  it('shows some of the disagreements, and how many are left', () => {
    const many = Array.from({ length: SHOWN + 7 }, (_, index) => ({ ...choice, episode: `e${index}` }));
    const { disagreements, left } = agreementView(agreement({ disagreements: many }));
    expect(disagreements).toHaveLength(SHOWN);
    expect(left).toBe(7);
  });
});
