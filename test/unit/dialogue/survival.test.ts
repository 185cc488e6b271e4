import { describe, expect, it } from 'vitest';
import { functionNow, survival } from '../../../src/core/dialogue/survival';

describe('how much of an accepted answer survives', () => {
  it('is the fraction of its lines that are still there in their order', () => {
    expect(survival('a\nb\n\nc\nd', '  a\n  b\n  c\n  d\n')).toBe(1);
    expect(survival('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toBe(0.75);
    expect(survival('a\nb', 'b\na')).toBe(0.5);
    expect(survival('a', '')).toBe(0);
    expect(survival('', 'a')).toBe(1);
  });
});

describe('the function that is logged after the edits', () => {
  const file = 'KEY = 1\n\nclass Shop:\n    def f(self):\n        return KEY\n\ndef g():\n    pass\n';

  it('is its own text alone, without the indentation', async () => {
    expect(await functionNow(file, 'f', 3)).toBe('def f(self):\n    return KEY');
  });

  it('is absent while the function is a stub or gone, or holds a secret or an e-mail address', async () => {
    expect(await functionNow(file, 'g')).toBeUndefined();
    expect(await functionNow(file, 'h')).toBeUndefined();
    const token = ['ghp_', 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC2'].join('');
    for (const found of [token, 'ada@lovelace.org'])
      expect(await functionNow(`def f():\n    return "${found}"\n`, 'f')).toBeUndefined();
  });
});
