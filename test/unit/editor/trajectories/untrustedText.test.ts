import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { mulberry32 } from '../../../../src/core/random';
import { harmless, quoted } from '../../../../src/editor/trajectories/transcript';

/** Renders Markdown like a preview that allows all HTML. */
const drawn = (text: string): string => new MarkdownIt({ html: true }).render(harmless(text));

describe('Markdown from an untrusted speaker', () => {
  it('draws no picture, no HTML and no chapter', () => {
    const html = drawn(
      'See ![a](https://example.org/?secret=1) and ![b][c].\n\n[c]: https://example.org/b.png\n\n' +
        '<script>alert(1)</script> <img src="https://example.org/x"> <!-- hidden -->\n\n' +
        '# A chapter\n\nAnother one\n===========\n\nAnd one more\n---',
    );
    expect(html).not.toMatch(/<img|<script|<!--|<h\d/);
    expect(html).toContain('&lt;script&gt;');
    expect(html).toContain('# A chapter');
  });

  it('leaves code as it is, and what else Markdown can do', () => {
    const text =
      'Use `a < b` and ``x ` <b>`` in **bold**:\n\n```python\n# a comment\nif a <b: print("![x]")\n```\n\n1 < 2';
    expect(harmless(text)).toBe(text);
    expect(drawn('`![x](y)` and `<b>` <b>')).toBe(
      '<p><code>![x](y)</code> and <code>&lt;b&gt;</code> &lt;b&gt;</p>\n',
    );
  });

  it('ends code that the speaker does not end, so that nothing after it is taken for code', () => {
    expect(harmless('```python\nx = 1')).toBe('```python\nx = 1\n```');
    expect(harmless('~~~~\n~~~\n~~~~\n# x')).toBe('~~~~\n~~~\n~~~~\n\\# x');
  });

  it.each([
    ['a span that ends in the next line', 'a `b\n` ![x](https://example.org) `'],
    ['a backtick behind a backslash', '\\`![x](https://example.org)`'],
    ['a tag behind a backslash', '\\<img src="https://example.org">'],
    ['cells of a table', '| a | b | c |\n|---|---|---|\n| ` | ![x](https://example.org) | ` |'],
    ['the head of a table that looks like a fence', '~~~|a\n---|---\n![x](https://example.org)'],
    ['a fence in a list, which its end does not open', '- ```\n  a\n  ```\n![x](https://example.org)'],
    ['a fence that ends with its list', '- ```\n![x](https://example.org)'],
    ['what looks like the end of an indented fence', '   ```\n    ```\n![x](https://example.org)'],
    ['a space that is none', '  ```\n\u00a0```\n![x](https://example.org)'],
    ['backticks in a line that begins with them', '``` a`b\n![x](https://example.org)'],
    ['lines that end in a carriage return', 'a\r```\rb\r```\r![x](https://example.org)'],
  ])('is not taken in by %s', (_, text) => {
    expect(drawn(text)).not.toContain('<img');
  });

  it('keeps code of which only one reading can be had, also in a list', () => {
    expect(drawn('1. So:\n   ```python\n   if a <b:\n       x = 1\n   ```\n2. Then `a <b`')).toContain(
      '<pre><code class="language-python">if a &lt;b:\n    x = 1\n</code></pre>',
    );
    expect(drawn('It is `a\nb` and `c`.')).toBe('<p>It is <code>a b</code> and <code>c</code>.</p>\n');
    expect(drawn('`a\n` or `<b>`')).toBe('<p><code>a </code> or <code>&lt;b&gt;</code></p>\n');
  });

  it('is safe however its signs are mixed, and what follows is not part of it', () => {
    const random = mulberry32(1);
    const signs = [
      ...['`', '`', '``', '```', '~~~', '\n', '\n', '\n\n', '![p](https://example.org)', '<img src=x>', '<b'],
      ...[
        '>',
        '> ',
        '\\',
        '- ',
        '1. ',
        '  ',
        '    ',
        '|',
        '\n|---|---|\n',
        '# ',
        'a',
        ' ',
        '\r',
        '[p]: x',
        '!',
      ],
      ...['[', '<!--', '-->', '\n---\n', '\t', '\u00a0', '$'],
    ];
    for (let count = 0; count < 3000; count += 1) {
      const length = 1 + Math.floor(random() * 14);
      const text = Array.from({ length }, () => signs[Math.floor(random() * signs.length)]!).join('');
      for (const document of [harmless(text), quoted(harmless(text))]) {
        const tokens = new MarkdownIt({ html: true }).parse(`${document}\n\n# End`, {});
        const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
        const drawn = all.filter(({ type }) => ['image', 'html_inline', 'html_block'].includes(type));
        expect(drawn, JSON.stringify(text)).toEqual([]);
        const [opens, end] = tokens.slice(-3);
        expect([opens!.type, end!.content], JSON.stringify(text)).toEqual(['heading_open', 'End']);
      }
    }
  });
});
