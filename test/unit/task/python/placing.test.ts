import { describe, expect, it } from 'vitest';
import { brought, withAnswer } from '../../../../src/core/task/python/placing';

/** Returns the file with the answer in place of its function `f`. */
const withF = (file: string, answer: string): string => withAnswer(file, answer, { name: 'f' });

describe('putting an answer into a file', () => {
  const source =
    'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        ...\r\n\r\nx = 1\r\n';

  it('takes the place of the function, as far in and under its decorators', () => {
    const answer = 'def price(x):\n    if x:\n\n        return 1\n';
    expect(withAnswer(source, answer, { name: 'price' })).toBe(
      'import os\r\n\r\nclass Shop:\r\n    @staticmethod\r\n    def price(x):\r\n        if x:\r\n\r\n            return 1\r\n\r\nx = 1\r\n',
    );
  });

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
    expect(withF(file, answer)).toBe(`x = 1

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

  it('takes the docstring of the answer where it has one', () => {
    const file = 'def f(x):\n    """Old."""\n';
    const answer = 'def f(x):\n    """New."""\n    return x\n';
    expect(withF(file, answer)).toBe(answer);
    const bare = 'def f(x):\n    return x';
    expect(withF(withF(file, bare), bare)).toBe(`${file}    return x\n`);
  });
});

describe('what an answer brings besides the function', () => {
  const shop = `# Words.
import os
LIMIT = 20


# A reader of texts.
@final
class Words(Base):
    name = "w"

    def f(self, text):
        """The first word.

        Or none.
        """
        ...

    def g(self): ...
`;

  it('stands above the class of a method, which does not see the names of its class', () => {
    const answer = `import re
import os

# What a word is.
WORD = re.compile(r"\\w+")

@cache
def first(text):
    return WORD.search(text)

# Looks for it.
def f(self, text):
    found = first(text) or last(text)
    return found and found[0]

def last(text):
    return None
`;
    const wanted = `# Words.
import os
LIMIT = 20


import re

# What a word is.
WORD = re.compile(r"\\w+")

@cache
def first(text):
    return WORD.search(text)

def last(text):
    return None


# A reader of texts.
@final
class Words(Base):
    name = "w"

    # Looks for it.
    def f(self, text):
        """The first word.

        Or none.
        """
        found = first(text) or last(text)
        return found and found[0]

    def g(self): ...
`;
    expect(withF(shop, answer)).toBe(wanted);
    expect(withF(shop.replaceAll('\n', '\r\n'), answer)).toBe(wanted.replaceAll('\n', '\r\n'));
    // In the order of the file, without the file's own docstring.
    const lines = brought(shop, answer, { name: 'f' }).split('\n');
    const imports = ['import re', '# What a word is.', 'WORD = re.compile(r"\\w+")'];
    expect(lines.filter((line) => line !== '')).toEqual([
      ...[...imports, '@cache', 'def first(text):', '    return WORD.search(text)'],
      ...['def last(text):', '    return None', '# Looks for it.', 'def f(self, text):'],
      ...['    found = first(text) or last(text)', '    return found and found[0]'],
    ]);
    // What the answer has brought is not brought again.
    expect(withF(wanted, answer)).toContain('\n\n# A reader of texts.');
    expect(withF(wanted, answer).match(/import re|WORD =|def first|def last/g)).toHaveLength(4);
  });

  it('stands above the whole statement around a function, and leaves out examples', () => {
    const file =
      'x = 1\n\ntry:\n    from a import f\nexcept ImportError:\n    def f(x): ...\nelse:\n    y = 2\n';
    const answer = 'import math\ndef f(x): return math.floor(x)\nprint(f(1))\nONE = f(1)\nassert f(2) == 2';
    expect(withF(file, answer)).toBe(
      file
        .replace('x = 1\n\n', 'x = 1\n\nimport math\n\n\n')
        .replace('f(x): ...', 'f(x): return math.floor(x)'),
    );
    expect(brought(file, answer, { name: 'f' })).toBe('import math\n\ndef f(x): return math.floor(x)');
  });
});

describe('an answer that repeats the class around its method', () => {
  const file = `class Words(Base):
    """Texts."""

    limit = 3

    def f(self, text):
        """The first word."""
        ...

    def g(self):
        return 1


x = Words()
`;

  it('gives the method, and new members above it; the file’s own stay', () => {
    const answer = `import re

class Words(Base):
    """Other words."""

    limit = 4
    # What a word is.
    WORD = re.compile("""
w""")

    def f(self, text):
        # It looks.
        return self.first(text)

    @staticmethod
    def first(text):
        return re.search("w", text)

    def g(self):
        ...
`;
    const wanted = file.replace('class Words', 'import re\n\n\nclass Words').replace(
      '    def f(self, text):\n        """The first word."""\n        ...',
      `    # What a word is.
    WORD = re.compile("""
w""")

    @staticmethod
    def first(text):
        return re.search("w", text)

    def f(self, text):
        """The first word."""
        # It looks.
        return self.first(text)`,
    );
    expect(withF(file, answer)).toBe(wanted);
    expect(withF(file.replaceAll('\n', '\r\n'), answer)).toBe(wanted.replaceAll('\n', '\r\n'));
    expect(withF(wanted, answer)).toBe(wanted);
    expect(brought(file, answer, { name: 'f' }).split('\n\n').at(-1)).toBe(
      'def f(self, text):\n    # It looks.\n    return self.first(text)',
    );
  });

  it('stays as it is when the class is another one, or the function is none of a class', () => {
    const answer = 'class Other:\n    def f(self): ...';
    expect(withF(file, answer)).toContain('    class Other:\n        def f(self): ...');
    expect(withF('def f(x): ...\n', answer)).toBe(`${answer}\n`);
  });
});

describe('imports from __future__', () => {
  const future = 'from __future__ import annotations';
  const answer = `${future}\nimport re\n\ndef f(x: int | None): return re`;
  const rest = 'import re\n\ndef f(x: int | None): return re';

  it('go to the head of the file', () => {
    expect(withF('import os\n\ndef f(x): ...\n', answer)).toBe(`${future}\n\nimport os\n\n${rest}\n`);
    expect(withF('def f(x): ...\n', answer)).toBe(`${future}\n\n${rest}\n`);
    expect(withF('import os\n', answer)).toBe(`${future}\n\nimport os\n\n\n${rest}\n`);
  });

  it('go behind its docstring, its comments and those that it has', () => {
    const tail = 'import os\n\ndef f(x): ...\n';
    const placed = `import os\n\n${rest}\n`;
    const comments = '#!/usr/bin/python3\n# Ours.\n';
    expect(withF(`${comments}\n${tail}`, answer)).toBe(`${comments}\n${future}\n\n${placed}`);
    const docstring = `${comments}r"""Words.\n\nfrom __future__ import x\n"""\n`;
    expect(withF(`${docstring}${tail}`, answer)).toBe(`${docstring}\n${future}\n\n${placed}`);
    const other = `${docstring}from __future__ import (\n    division,\n)\n`;
    expect(withF(`${other}${tail}`, answer)).toBe(`${other}${future}\n${placed}`);
    expect(withF(`${future}\n${tail}`, answer)).toBe(`${future}\n${placed}`);
  });
});

it('keeps the lines of a string as they are when it indents a method', () => {
  const answer = `def f(self):
    """New.

    Of two lines.
    """
    text = '''
one
   
    two'''
    def g():
        return "of \\
one"
    return (text,
        1)`;
  expect(withF('class A:\n\tdef f(self): ...\n', answer)).toBe(`class A:
\tdef f(self):
\t    """New.

\t    Of two lines.
\t    """
\t    text = '''
one
   
    two'''
\t    def g():
\t        return "of \\
one"
\t    return (text,
\t        1)
`);
});
