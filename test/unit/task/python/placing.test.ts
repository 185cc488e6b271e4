import { describe, expect, it } from 'vitest';
import { appended, placed, withPlaced } from '../../../../src/core/task/python/placing';

describe('putting an answer into a file', () => {
  const source =
    'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        ...\r\n\r\nx = 1\r\n';

  it('takes the place of the function, as far in and under its decorators', () => {
    const place = placed(source, 'def price(x):\n    if x:\n\n        return 1\n', { name: 'price' })!;
    expect(withPlaced(source, place)).toBe(
      'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        if x:\r\n\r\n            return 1\r\n\r\nx = 1\r\n',
    );
  });

  it('brings decorators of its own', () => {
    const place = placed(source, '@classmethod\ndef price(x): return 1', { name: 'price' })!;
    expect(withPlaced(source, place)).toContain(
      'class Shop:\r\n    @classmethod\r\n    def price(x): return 1\r\n',
    );
  });

  /** Returns the file with the answer in place of its function `f`. */
  const withAnswer = (file: string, answer: string): string =>
    withPlaced(file, placed(file, answer, { name: 'f' })!);

  it('keeps the docstring and the decorators, with imports and helpers of the answer above them', () => {
    const file = `x = 1

# The price.
@cached
# for an hour
@logged(
    level=1)
async def f(x):
    # A comment.
    r"""Prices.

      - \\d of them

    >>> f(1)
    """
    ...
`;
    const answer = 'import math\n\ndef g(x): return x\n\nasync def f(x):  # now\n  return g(x)';
    expect(withAnswer(file, answer)).toBe(`x = 1

# The price.
import math

def g(x): return x

@cached
# for an hour
@logged(
    level=1)
async def f(x):  # now
  r"""Prices.

    - \\d of them

  >>> f(1)
  """
  return g(x)
`);
  });

  it('keeps the docstring of a method, and gives an answer of one line a body for it', () => {
    const file =
      'class A:\n    def f(self):\n        """One.\n\n        Two.\n    Three.\n        """\n        pass\n';
    expect(withAnswer(file, 'def f(self): return 1')).toBe(file.replace('pass', 'return 1'));
    expect(withAnswer('def f(x): "One."\n', 'def f(x):\n\treturn x')).toBe(
      'def f(x):\n\t"One."\n\treturn x\n',
    );
    const lines = 'def f(x):\r\n    """A\r\n    b."""\r\n';
    expect(withAnswer(lines, 'def f(x):\n    return x')).toBe(`${lines}    return x\r\n`);
  });

  it('takes the docstring of the answer where it has one', () => {
    const file = 'def f(x):\n    """Old."""\n';
    const answer = 'def f(x):\n    """New."""\n    return x\n';
    expect(withAnswer(file, answer)).toBe(answer);
    const bare = 'def f(x):\n    return x';
    expect(withAnswer(withAnswer(file, bare), bare)).toBe(`${file}    return x\n`);
  });

  it('goes to the end where there is no such function', () => {
    expect(placed(source, 'def g(): pass', { name: 'g' })).toBeUndefined();
    expect(withPlaced('x = 1\n\n\n', appended('x = 1\n\n\n', 'def g(): pass'))).toBe(
      'x = 1\n\n\ndef g(): pass\n',
    );
    expect(withPlaced('x = 1', appended('x = 1', 'def g(): pass'))).toBe('x = 1\n\n\ndef g(): pass\n');
    expect(withPlaced('', appended('', 'def g(): pass'))).toBe('def g(): pass\n');
  });
});
