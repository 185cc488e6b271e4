import { describe, expect, it } from 'vitest';
import { extractCode } from '../../../src/core/grading/code';

const code = 'def f(x):\n    return x';
const calls = ['f(1)', 'f(2)'];
const fixed = (text: string): string => extractCode(text, 'fixed', calls).trim();
const paper = (text: string): string => extractCode(text, 'paper', calls).trim();
const block = (inner: string, tag = 'python'): string => `\`\`\`${tag}\n${inner}\n\`\`\`\n`;
const fence = '```';

describe('fixed mode finds the code', () => {
  it.each([
    ['without a fence', code],
    ['in a fence without a tag', `\`\`\`\n${code}\n\`\`\``],
    ['in a fence tagged python', `Sure!\n\`\`\`python\n${code}\n\`\`\`\nThat is it.`],
    ['in a fence tagged Python', `\`\`\`Python\n${code}\n\`\`\``],
    ['in a fence tagged py', `\`\`\`py\n${code}\n\`\`\``],
    ['in a fence tagged {.python}', `\`\`\`{.python}\n${code}\n\`\`\``],
    ['in a fence of tildes', `~~~python\n${code}\n~~~`],
    ['in a long fence', `\`\`\`\`python\n${code}\n\`\`\`\``],
    ['in an indented fence', `1. So:\n   \`\`\`python\n   def f(x):\n       return x\n   \`\`\``],
    ['in a fence that is never closed', `Here:\n\`\`\`python\n${code}`],
    ['in a fence that is never closed, before prose', `\`\`\`python\n${code}\n\nIt just returns x, see?`],
    ['with Windows line ends', `\`\`\`python\r\n${code.replace('\n', '\r\n')}\r\n\`\`\`\r\n`],
    [
      'before an example of its use',
      `\`\`\`python\n${code}\n\`\`\`\nUse:\n\`\`\`python\nprint(f(1))\n\`\`\``,
    ],
    [
      'after a first attempt',
      `\`\`\`python\ndef f(x):\n    pass\n\`\`\`\nBetter:\n\`\`\`python\n${code}\n\`\`\``,
    ],
    ['after a command for the shell', `\`\`\`bash\npip install it\n\`\`\`\n\`\`\`python\n${code}\n\`\`\``],
    ['before its output', `\`\`\`python\n${code}\n\`\`\`\n\`\`\`json\n{"def f": 1}\n\`\`\``],
    ['behind a byte order mark', `\ufeff${code}`],
    ['in a fence behind a zero-width space', `\u200b${block(code)}`],
    ['in a fence behind a no-break space', `\u00a0${block(code)}`],
    ['indented as a whole in a fence', block('    def f(x):\n        return x')],
    ['with the closing fence at the end of its last line', `${fence}python\n${code}${fence}\nDone.`],
    ['in a fence that opens behind prose', `Answer: ${block(code)}`],
    ['in a list item', `- ${fence}python\n  def f(x):\n      return x\n  ${fence}`],
    ['in a quotation', `> ${fence}python\n> def f(x):\n>     return x\n> ${fence}\n\nDone.`],
    ['behind prose with a lone triple quote', `A docstring starts with """ in Python.\n${block(code)}`],
    ['before text on the line of the closing fence', `${fence}python\n${code}\n${fence} That's it.\nBye.`],
    ['before a fence that was not closed', `${fence}python\nunused = 1\n${block(code)}`],
    ['in a block of Markdown with a longer fence', `\`${fence}markdown\n${block(code)}\`${fence}\n`],
    ['in a block of Markdown with an equal fence', `${fence}md\nSo:\n${block(code)}${fence}\n`],
    ['after a block of Markdown', `\`${fence}markdown\n${block('f = 0')}\`${fence}\n${block(code)}`],
    [
      'behind prompts',
      block('>>> def f(x):\n...     return x\n...\n>>> f(1)\n1', 'pycon').replace('>>> f(1)\n', ''),
    ],
    ['on the line of the opening fence', `${fence}python def f(x):\n    return x\n${fence}`],
    ['in a fence whose tag has attributes', block(code, 'python title="a.py"')],
    ['in a fence tagged with a file', block(code, 'python:main.py')],
  ])('%s', (_where, text) => {
    expect(fixed(text)).toBe(code);
  });

  it.each([
    ['before a closing fence that nothing opened', `${code}\n${fence}`],
    ['before a closing fence and prose', `Sure!\n\n${code}\n${fence}\n\nIt returns x.`],
    ['before a fenced example', `${code}\n\nFor example:\n${fence}\nf(1)\n${fence}`],
    ['before a fenced example in Python', `${code}\n\n${block('print(f(1))')}`],
    ['behind a command', `${block('pip install nothing', 'bash')}\n${code}\n`],
    ['between two examples', `${block('f(1)', '')}\n${code}\n\n${block('f(2)')}`],
    ['before a block that no fence closes', `${code}\n\n${fence}\nprint(f(1))`],
    ['before a fence of tildes', `${code}\n\n~~~text\n1\n~~~`],
    ['in prose without a fence', `Here is the function:\n\n${code}\n\nHope that helps (see above)!`],
    ['in an indented block of Markdown', `So:\n\n    def f(x):\n        return x\n\nThat is it.`],
    ['before an example without a fence', `${code}\n\nExample usage:\n\nprint(f(1))\n`],
    ['behind the name of the language', `python\n${code}\n${fence}`],
    ['before words that could be Python', `${code}\n\nThat is all`],
    ['before a line of its complexity', `${code}\nTime: O(1)\nT(n) = O(n)`],
    ['before a rule', `${code}\n---\nSo it is`],
    ['behind prose with a no-break space', `Here\u00a0is:\n\n${code}`],
    ['before a list of remarks', `${code}\n\n**Notes**\n- It's fast.\n1. So there\n\u2192 done`],
  ])('outside of fences, %s', (_where, text) => {
    expect(fixed(text)).toBe(code);
  });

  it('outside of fences with what earlier blocks define, and the other way round', () => {
    const main = 'def f(x):\n    return floor(x)';
    const line = 'from math import floor';
    expect(fixed(`${block(line)}${main}\n${fence}`)).toBe(`${line}\n\n${main}`);
    expect(fixed(`${line}\n\n${block(main)}`)).toBe(`${line}\n\n${main}`);
  });

  it('and prefers a fenced version to one outside of fences', () => {
    expect(fixed(`${code.replace('return x', 'return 0')}\n\nBetter:\n${block(code)}\nf = None`)).toBe(code);
  });

  it('and leaves Python without prose as it is, whatever it looks like', () => {
    const python = `match = 1\n${code}\nnames = [\na,\nb\n]\nprint(f"{names["a b"]}")\ns = 'it\\\ngoes on'\n"""A b c."""`;
    expect(fixed(python)).toBe(python);
  });

  it('on one line with both fences', () => {
    expect(fixed(`${fence}def f(x): return x${fence}`)).toBe('def f(x): return x');
    expect(fixed(`${fence}python def f(x): return x${fence}`)).toBe('def f(x): return x');
  });

  it('with a space before its first line', () => {
    expect(fixed(` ${code}\nSTEP = 1`)).toBe(`${code}\nSTEP = 1`);
  });

  it('and keeps tabs', () => {
    expect(fixed('def f(x):\n\treturn x')).toBe('def f(x):\n\treturn x');
  });

  it('and keeps a fence in a comment', () => {
    const commented = 'def f(x):\n    # ```\n    return x  # as in ```';
    expect(fixed(block(commented))).toBe(commented);
    expect(fixed(commented)).toBe(commented);
  });

  it('and counts lines from the first line behind the opening fence', () => {
    expect(extractCode(block(`\n\n${code}`), 'fixed', calls)).toBe(`\n\n${code}`);
  });

  it('in time that grows with the length of the answer', () => {
    const escaped = `'${"\\'".repeat(400_000)}`;
    expect(fixed(escaped)).toBe(escaped);
    const open = `${fence}\n\\'''\n${fence}\n`.repeat(30_000);
    expect(fixed(open)).toBe("\\'''");
  });

  it('and keeps a fence that is inside a string of the code', () => {
    const documented = 'def f(x):\n    """Doubles.\n\n```python\nf(1)\n```\n    """\n    return x';
    expect(fixed(`\`\`\`python\n${documented}\n\`\`\``)).toBe(documented);
    expect(fixed(documented)).toBe(documented);
  });

  it('and is not misled by apostrophes and comments', () => {
    const tricky = 'def f(x):\n    # it\'s """ here\n    y = \'don\\\'t\'\n    return \'"""\'';
    expect(fixed(`It's here, don't worry:\n\`\`\`python\n${tricky}\n\`\`\``)).toBe(tricky);
  });

  it('and takes the fence at its word when a string of the code never ends', () => {
    expect(fixed('```python\ndef f(x):\n    """Broken\n```\nSorry.')).toBe('def f(x):\n    """Broken');
  });
});

describe('of several blocks, fixed mode takes the one that defines what the tests call', () => {
  it.each([
    ['before test functions', block(code) + block('def test_f():\n    assert f(1) == 2\ntest_f()')],
    [
      'before a test class',
      block(code) +
        block(
          'import unittest\nclass T(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(1), 2)',
        ),
    ],
    ['before tests that import it', block(code) + block('from solution import f\nassert f(1) == 1')],
    ['before text with a line that begins with class', block(code) + block('class A calls def b', 'text')],
    ['before untagged text with a line that begins with def', block(code) + block('def is a keyword', '')],
    ['before code of another language', block(code) + block('class A {}\nf = 1', 'js')],
    ['before its output', block(code) + block('f = 1', 'output')],
    ['before its signature in prose', `${block(code)}the signature: \`def f(x): ...\``],
    ['before its signature', block(code) + block('def f(x: int) -> int:\n    ...')],
    ['after another version', block('def f(x):\n    return 0') + block(code)],
    ['without a tag, when no Python block does', block(code, '') + block('print(f(1))')],
  ])('%s', (_where, text) => {
    expect(fixed(text)).toBe(code);
  });

  it.each([
    ['a lambda', 'f = lambda x: x'],
    ['an annotated name', 'f: Callable[[int], int] = lambda x: x'],
    ['a coroutine function', 'async def f(x):\n    return x'],
    ['a class', 'class f(int):\n    pass'],
    ['a decorated function', '@cache\ndef f(x):\n    return x'],
  ])('as %s', (_what, definition) => {
    expect(fixed(block(definition) + block('def show():\n    print(f(1))'))).toBe(definition);
  });

  it('and puts the earlier blocks before it that it needs', () => {
    const imports = 'from math import (\n    floor,\n)\nSTEP: int = 1';
    const helper = 'def helper(x):\n    return floor(x) + STEP';
    const main = 'def f(x):\n    return helper(x)';
    expect(fixed(block(imports) + block(helper) + block(main))).toBe(`${imports}\n\n${helper}\n\n${main}`);
  });

  it('and leaves out blocks that it does not need, and examples', () => {
    const draft = block('import numpy') + block('helper = 3\nprint(helper)') + block('y = f(2)');
    const main = 'def f(x):\n    return x + helper + y';
    expect(fixed(draft + block(main))).toBe(main);
  });

  it('and the functions of later blocks, and of blocks with an example', () => {
    const main = 'def f(x):\n    return helper(x, list())';
    const helper = 'STEP = 1\n@cache\ndef helper(x, y):\n    return x + STEP';
    const example = 'n = int(input())\nprint(helper(n, 2))';
    const whole = `${helper}\n\n${main}`;
    expect(fixed(block(`${helper}\n${example}`) + block(main))).toBe(whole);
    expect(fixed(block(main) + block(`${helper}\n${example}`))).toBe(`${main}\n\n${helper}`);
    expect(fixed(block(main) + block('list = [1]'))).toBe(main);
    expect(fixed(block(helper, '') + block(main) + block('x = 1', ''))).toBe(whole);
    const table = 'STEPS = [\n1,\n]\ndef helper(\nx,\n):\n    return x';
    expect(fixed(block(`${table}\nprint(1)`) + block(main))).toBe(`${table}\n\n${main}`);
  });

  it('and the other functions of a block with an earlier version', () => {
    const helper = 'import math\n@cache\ndef helper(x):\n    return math.floor(x)';
    const wrong = '@cache\ndef f(x):\n    return 0\nf = wrapped(f)';
    const main = 'def f(x):\n    return helper(x)';
    expect(fixed(block(`${helper}\n${wrong}\nprint(f(1))`) + block(main))).toBe(`${helper}\n\n${main}`);
  });

  it('and keeps imports from __future__ first', () => {
    const main = 'from __future__ import annotations\ndef f(x):\n    return STEP';
    expect(fixed(block('STEP = 1') + block(main))).toBe(
      'from __future__ import annotations\nSTEP = 1\n\ndef f(x):\n    return STEP',
    );
  });

  it('and the last one with a definition when none defines it', () => {
    expect(fixed(block('def g(x):\n    return x') + block('print(1)'))).toBe('def g(x):\n    return x');
  });
});

describe('paper mode takes what is', () => {
  it.each([
    ['behind the first fence tagged python', `\`\`\`\nno\n\`\`\`\n\`\`\`python\n${code}\n\`\`\``, code],
    ['between the first two fences', `\`\`\`\n${code}\n\`\`\` and \`\`\`\nno\n\`\`\``, code],
    ['everything when there is no fence', code, code],
    [
      'cut at a fence inside a string',
      '```python\ndef f(x):\n    "```"\n    return x\n```',
      'def f(x):\n    "',
    ],
    ['with the tag when its case differs', `\`\`\`Python\n${code}\n\`\`\``, `Python\n${code}`],
  ])('%s', (_what, text, expected) => {
    expect(paper(text)).toBe(expected.trim());
  });
});
