import { describe, expect, it } from 'vitest';
import { extractCode } from '../../../src/core/grading/code';

const code = 'def f(x):\n    return x';
const fixed = (text: string): string => extractCode(text, 'fixed').trimEnd();
const paper = (text: string): string => extractCode(text, 'paper').trim();

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
  ])('%s', (_where, text) => {
    expect(fixed(text)).toBe(code);
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
