import { describe, expect, it } from 'vitest';
import { readOutcome } from '../../../src/core/grading/outcome';

const title = '\x1b]0;pwned\x07';

describe('what an outcome says can be shown anywhere', () => {
  it('so control sequences in an error are escaped', () => {
    const text = JSON.stringify({ kind: 'error', type: `E${title}`, message: `a\n\t${title}\x9b31m\r` });
    expect(readOutcome(text, 1)).toEqual({
      kind: 'error',
      type: 'E\\x1b]0;pwned\\x07',
      message: 'a\n\t\\x1b]0;pwned\\x07\\x9b31m\\x0d',
    });
  });

  it('so control sequences in a value are escaped, and the value that is compared stays as it is', () => {
    const value = { kind: 'value', canonical: `s${title}`, none: false, display: `<${title}\n>` };
    expect(readOutcome(JSON.stringify(value), 1)).toEqual({
      ...value,
      display: '<\\x1b]0;pwned\\x07\\x0a>',
      milliseconds: 1,
    });
  });

  it('so characters that break or turn a line are escaped, and other text is not', () => {
    const text = JSON.stringify({ kind: 'error', type: 'E', message: 'é 😀 שלום\u2028\u202e\u2066\u200f' });
    expect(readOutcome(text, 1)).toMatchObject({ message: 'é 😀 שלום\\u2028\\u202e\\u2066\\u200f' });
  });
});

describe('what is no outcome', () => {
  it.each(['', 'null', '{"kind":"value"}', '{"kind":"error","type":"E"}'])('is tampering: %j', (text) => {
    expect(() => readOutcome(text, 1)).toThrow('The code has tampered with its interpreter.');
  });
});
