import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../src/core/fault';
import type { PeoplesAgreement } from '../../../../src/core/evaluation/people/agreement';
import { alphaOf } from '../../../../src/core/evaluation/people/alpha';
import { unlessUndrawn } from '../../../../src/core/evaluation/people/measures';
import { linesOf } from '../../../../src/core/evaluation/report/table';
import { alphaTable, measuresTable } from '../../../../src/core/evaluation/report/people';

const none = { alpha: undefined, units: 0, values: 0 };
const agreement = (fields: Partial<PeoplesAgreement>): PeoplesAgreement => ({
  ...{ people: [], shared: 0, alpha: { stars: none, thumbs: none, choices: none }, disagreements: [] },
  ...fields,
});
const reliabilityOf = (stars: object): unknown =>
  alphaTable(
    agreement({
      alpha: { stars: { units: 12, values: 24, ...stars } as never, thumbs: none, choices: none },
    }),
  ).rows[0]!.icon;

describe('how far one may rely on judgements', () => {
  it.each([
    [{ alpha: 0.9, interval: { low: 0.81, high: 0.97 } }, 'check'],
    [{ alpha: 0.9, interval: { low: 0.7, high: 0.97 } }, 'info'],
    [{ alpha: 0.5, interval: { low: 0.3, high: 0.6 } }, 'warning'],
    [{ alpha: 0.9, interval: { low: 0.3, high: 1 } }, 'question'],
    [{ alpha: 1 }, undefined],
    [{ alpha: undefined }, undefined],
  ])('follows from the interval of alpha in %o: %s', (figures, icon) => {
    expect(reliabilityOf(figures)).toBe(icon);
  });

  it.each([
    [6, 'question'],
    [20, 'question'],
    [100, 'check'],
  ])('after %d units of which none shows a difference is %s', (units, icon) => {
    const agreeing = Array.from({ length: units }, (_, index) => [index % 2, index % 2]);
    expect(reliabilityOf(alphaOf(agreeing, [0, 1], 'nominal'))).toBe(icon);
  });
});

it('a measure of pages has how often it prefers the chosen one, with its interval and its ties', () => {
  const interval = { low: 0.3, high: 0.95 };
  const scale = { measure: 'structure', version: 1, renderer: 'a test' };
  const measured = { ...scale, choices: 4, agreed: 3, rate: 0.75, interval, ties: 1 };
  const none = { ...scale, measure: 'checks', renderer: 'none', choices: 0, agreed: 0, rate: null };
  const found = { measures: [measured, { ...none, interval, ties: 2 }], undecided: 5, withoutPage: 6 };
  expect(linesOf(measuresTable(found)).slice(1)).toEqual([
    ['structure 1, drawn by a test', '75.0 % [30.0, 95.0], n = 4', '1'],
    ['checks 1', '–', '2'],
  ]);
});

it('is a sentence where pages cannot be drawn', async () => {
  const why = new Fault('page/no-browser', 'There is no browser.');
  expect(await unlessUndrawn(Promise.reject(why))).toBe('There is no browser.');
});
