import { describe, expect, it } from 'vitest';
import { measureLeak } from '../../../src/core/dialogue/leak';

const reference = `def parcel_price(weight, zone):
    """Price of a parcel in cents."""
    base = 450 if zone == 'domestic' else 1290
    if weight > 20:
        base += round((weight - 20) * 35)
    return min(base, 9900)
`;

describe('the leak meter', () => {
  it('finds everything given away when the reference is pasted', () => {
    expect(measureLeak(reference, reference)).toEqual({ fraction: 1, leaked: true });
  });

  it('sees through renamed variables and other white space', () => {
    const renamed = reference.replaceAll('weight', 'w').replaceAll('base', 'p').replaceAll('\n    ', ' ');
    expect(measureLeak(reference, renamed).fraction).toBeGreaterThan(0.9);
  });

  it('finds nothing in an answer in plain words, even with all the numbers', () => {
    const reply =
      'Domestic is 4.50, else 12.90. Above 20 kg add 35 cents for each kg over 20, and never more than 99.';
    expect(measureLeak(reference, reply)).toEqual({ fraction: 0, leaked: false });
  });

  it('finds nothing in words that are Python keywords as well', () => {
    const reply = 'if it is in the list and not in the other, return it, or else return None for it';
    expect(measureLeak('def f(a, b):\n    return [x for x in a if x not in b] or None', reply).fraction).toBe(
      0,
    );
  });

  it('measures one pasted line as a part', () => {
    const { fraction, leaked } = measureLeak(reference, 'Just use base += round((weight - 20) * 35) there.');
    expect(fraction).toBeGreaterThan(0.2);
    expect(fraction).toBeLessThan(0.5);
    expect(leaked).toBe(true);
  });

  it('does not count the signature, which everyone knows', () => {
    expect(measureLeak(reference, 'It is def parcel_price(weight, zone): as I said.').fraction).toBe(0);
  });

  it('says nothing about a reference without code', () => {
    expect(measureLeak('', 'anything')).toEqual({ fraction: 0, leaked: false });
  });
});
