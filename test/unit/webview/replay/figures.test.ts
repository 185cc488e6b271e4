import { describe, expect, it } from 'vitest';
import { DARKEST, fill, furthest, shade, signed, tokensOf } from '../../../../webview/replay/figures';

describe('a figure of a critic', () => {
  it('has a sign always, a real minus, and digits that fit the scale', () => {
    expect(signed(0.1234, 0.42)).toBe('+0.123');
    expect(signed(-0.0002, 0.42)).toBe('±0.000');
    expect(signed(-0.0312, 0.05)).toBe('−0.0312');
  });
});

describe('a bar', () => {
  it('begins in the middle and goes to the right where a turn helped, to the left where it hurt', () => {
    expect(fill(0.2, 0.4)).toEqual({ left: 50, width: 25 });
    expect(fill(-0.4, 0.4)).toEqual({ left: 0, width: 50 });
    expect(fill(0, 0)).toEqual({ left: 50, width: 0 });
  });
});

describe('tokens', () => {
  const texts = ['a', 'b', 'c', 'd'];
  const ratios = [0, -0.4, 0.1, 0.02];

  it('get darker with the distance from 0, in a few steps', () => {
    expect(ratios.map((ratio) => shade(ratio, 0.4))).toEqual([0, DARKEST, 1, 0]);
    expect(shade(1, 0)).toBe(0);
  });

  it('stand in the table from the one that says most', () => {
    const rows = furthest(tokensOf({ texts, ratios }), 2);
    expect(rows.map(({ number, text }) => [number, text])).toEqual([
      [2, 'b'],
      [3, 'c'],
    ]);
  });
});
