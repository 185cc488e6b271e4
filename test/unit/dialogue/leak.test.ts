import { describe, expect, it } from 'vitest';
import { leakedPassages, measureLeak } from '../../../src/core/dialogue/leak';
import { starterPack } from '../../fixtures/starter';

const reference = `def parcel_price(weight, zone):
    """Price of a parcel in cents."""
    base = 450 if zone == 'domestic' else 1290
    if weight > 20:
        base += round((weight - 20) * 35)
    return min(base, 9900)
`;

describe('the leak meter', () => {
  it('sees through renamed variables and other white space', () => {
    const renamed = reference.replaceAll('weight', 'w').replaceAll('base', 'p').replaceAll('\n    ', ' ');
    expect(measureLeak(reference, renamed).fraction).toBeGreaterThan(0.9);
  });

  it('finds nothing in an answer in plain words, even with all the numbers', () => {
    const reply =
      'Domestic is 4.50, else 12.90. Above 20 kg add 35 cents for each kg over 20, and never more than 99.';
    expect(measureLeak(reference, reply)).toEqual({ fraction: 0, leaked: false });
  });

  it('measures one pasted line as a part', () => {
    const { fraction, leaked } = measureLeak(reference, 'Just use base += round((weight - 20) * 35) there.');
    expect(fraction).toBeGreaterThan(0.2);
    expect(fraction).toBeLessThan(0.5);
    expect(leaked).toBe(true);
  });

  it('names the passages that give it away, as they stand in the reply', () => {
    const reply =
      'Just use fee += round((kilos - 20) * 35) there, and "return min(fee, 9900)" at the end. Bye!';
    expect(leakedPassages(reference, reply)).toEqual([
      'fee += round((kilos - 20) * 35)',
      'return min(fee, 9900)',
    ]);
    expect(leakedPassages(reference, 'Above 20 kg it costs more.')).toEqual([]);
  });

  it('does not count the signature, which everyone knows', () => {
    expect(measureLeak(reference, 'It is def parcel_price(weight, zone): as I said.').fraction).toBe(0);
  });

  it('counts a formula that is spoken out as code, even a short one', () => {
    const mean = 'def mean(a, b):\n    return (a + b) / 2';
    expect(measureLeak(mean, 'It is (x + y) / 2.').leaked).toBe(true);
    expect(measureLeak(mean, 'It is the mean of the two.').fraction).toBe(0);
  });

  it.each(['Not 5" but 6", it\'s (at most) that.', "It's what's said (it isn't) in 'the list' (of all)."])(
    'finds nothing in the quotes and brackets of prose: %s',
    (reply) => {
      expect(measureLeak(reference, reply).fraction).toBe(0);
    },
  );
});

const tasks = await starterPack();
const bodyOf = (code: string): string => code.slice(code.indexOf('\n') + 1);
const commented = (code: string): string => code.replace(/^/gm, '# ');
const fenced = (code: string): string => '```python\n' + code + '\n```';

describe('the body of a reference is found', () => {
  it.each<[string, (code: string) => string]>([
    ['after "Rule #1:"', (code) => `Rule #1: ${code}`],
    ['inside double quotes', (code) => `I have "${code}" here.`],
    ['inside double quotes, its line ends written as \\n', (code) => JSON.stringify(code)],
    ['inside single quotes', (code) => `I have '${code}' here.`],
    ['inside typographic quotes', (code) => `I have \u201C${code}\u201D here.`],
    ['after an apostrophe', (code) => `It's simple: ${code}\nand that's all`],
    ['as comment lines', commented],
    ['as comment lines in a fence', (code) => fenced(commented(code))],
    ['as a quotation', (code) => code.replace(/^/gm, '> ')],
    ['in a fence', fenced],
    ['line by line in backticks', (code) => code.replace(/^\s*(.*)$/gm, '`$1`')],
    ['on one line', (code) => code.replace(/\s+/g, ' ')],
  ])('%s, for every task of the handwritten pack', (_, wrap) => {
    const hidden = tasks
      .map(({ id, reference: code }) => ({ id, ...measureLeak(code, wrap(bodyOf(code))) }))
      .filter(({ fraction }) => fraction <= 0.8);
    expect(hidden).toEqual([]);
  });
});

it('no wording of a fact of the handwritten pack is a leak', () => {
  const leaks = tasks.flatMap(({ id, reference: code, facts }) =>
    facts!.flatMap(({ answers }) => answers.map((text) => ({ id, text, ...measureLeak(code, text) }))),
  );
  expect(leaks.filter(({ fraction }) => fraction > 0)).toEqual([]);
});
