import { describe, expect, it } from 'vitest';
import { recalled } from '../../../webview/session/history';

const replies = ['Above 20.', 'Three zones.', 'Above 20.', 'Minus one.'];

describe('the history of the composer', () => {
  it('walks up from an empty composer, each reply once, and stops at the oldest', () => {
    expect(recalled(replies, '', 'ArrowUp')).toBe('Minus one.');
    expect(recalled(replies, 'Minus one.', 'ArrowUp')).toBe('Above 20.');
    expect(recalled(replies, 'Above 20.', 'ArrowUp')).toBe('Three zones.');
    expect(recalled(replies, 'Three zones.', 'ArrowUp')).toBeUndefined();
  });

  it('walks down again to the empty composer', () => {
    expect(recalled(replies, 'Above 20.', 'ArrowDown')).toBe('Minus one.');
    expect(recalled(replies, 'Minus one.', 'ArrowDown')).toBe('');
    expect(recalled(replies, '', 'ArrowDown')).toBeUndefined();
  });

  it('leaves the arrows to a text that was changed or is new', () => {
    expect(recalled(replies, 'Minus one, I think.', 'ArrowUp')).toBeUndefined();
    expect(recalled(replies, 'Minus one.', 'ArrowLeft')).toBeUndefined();
    expect(recalled([], '', 'ArrowUp')).toBeUndefined();
  });
});
