import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { harmless } from '../../../src/editor/trajectories/markdown';

/** As a preview that allows everything would draw it. */
const drawn = (text: string): string => new MarkdownIt({ html: true }).render(harmless(text));

describe('Markdown from an untrusted speaker', () => {
  it('draws no picture, no HTML and no chapter', () => {
    const html = drawn(
      [
        'See ![a](https://example.org/?secret=1) and ![b][c].',
        '',
        '[c]: https://example.org/b.png',
        '',
        '<script>alert(1)</script> <img src="https://example.org/x"> <!-- hidden -->',
        '',
        '# A chapter',
        '',
        'Another one',
        '===========',
        '',
        'And one more',
        '---',
      ].join('\n'),
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
});
