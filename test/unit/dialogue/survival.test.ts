import { describe, expect, it } from 'vitest';
import { survival } from '../../../src/core/dialogue/survival';

describe('how much of an accepted answer survives', () => {
  it('is the fraction of its lines that are still there in their order', () => {
    expect(survival('a\nb\n\nc\nd', '  a\n  b\n  c\n  d\n')).toBe(1);
    expect(survival('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toBe(0.75);
    expect(survival('a\nb', 'b\na')).toBe(0.5);
    expect(survival('a', '')).toBe(0);
    expect(survival('', 'a')).toBe(1);
  });
});
