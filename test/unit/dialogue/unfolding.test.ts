import { describe, expect, it } from 'vitest';
import { survival } from '../../../src/core/dialogue/survival';
import { Unfolding } from '../../../src/core/dialogue/unfolding';

/** What a place that can only append has shown, piece by piece, and the end. */
function shown(text: string, size: number): { pieces: string[]; all: string; answer?: string } {
  const unfolding = new Unfolding();
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += size) pieces.push(unfolding.push(text.slice(at, at + size)));
  const { rest, ...end } = unfolding.end();
  return { pieces: pieces.filter((piece) => piece !== ''), all: pieces.join('') + rest, ...end };
}

const code = '```python\ndef f(x):\n    return x\n```';

describe('a message that unfolds', () => {
  it('shows what is said in whole lines, and no thought', () => {
    const { pieces, all } = shown('I wonder.\n\nOUTPUT:\nHow heavy?\nAnd how far?', 4);
    expect(all).toBe('How heavy?\nAnd how far?');
    expect(pieces).toEqual(['How heavy?\n']);
  });

  it.each([1, 3, 7, 1000])('never shows an answer or its announcement in pieces of %i', (size) => {
    const { pieces, all, answer } = shown(`Hm.\nOUTPUT:\nHere it is.\nI WANT TO ANSWER:\n${code}`, size);
    expect(all).toBe('Here it is.\n'.trimEnd() + (all.endsWith('\n') ? '\n' : ''));
    expect(pieces.join('')).not.toMatch(/WANT|def f/);
    expect(answer).toBe(code);
  });

  it('shows all at the end where nothing marks what is said', () => {
    expect(shown('Just a question?', 5)).toEqual({ pieces: [], all: 'Just a question?' });
  });

  it.each([1, 2, 3, 4, 5])('shows what follows on a line that ends in spaces, in pieces of %i', (size) => {
    const { all } = shown('OUTPUT:\nFirst:  \nHow heavy?  \n\nAnd how far?', size);
    expect(all).toBe('First:  \nHow heavy?  \n\nAnd how far?');
  });

  it('does not repeat what stands when the message is written anew', () => {
    const unfolding = new Unfolding();
    expect(unfolding.push('OUTPUT:\nOne\n')).toBe('One\n');
    unfolding.restart();
    expect(unfolding.push('OUTPUT:\nOne\nTwo\n')).toBe('Two\n');
  });
});

describe('how much of an accepted answer survives', () => {
  it('is the fraction of its lines that are still there in their order', () => {
    expect(survival('a\nb\n\nc\nd', '  a\n  b\n  c\n  d\n')).toBe(1);
    expect(survival('a\nb\nc\nd', 'a\nx\nc\nd\ne')).toBe(0.75);
    expect(survival('a\nb', 'b\na')).toBe(0.5);
    expect(survival('a', '')).toBe(0);
    expect(survival('', 'a')).toBe(1);
  });
});
