import { describe, expect, it } from 'vitest';
import { renderMarkdown, renderPython } from '../../../../webview/dialogue/markdown';
import { withVisibleControls } from '../../../../webview/dialogue/protocol';

describe('characters that nobody sees', () => {
  it('names overrides of the direction, which make code read as it does not run', () => {
    expect(withVisibleControls('is_admin \u202E\u2066# then\u2069\u2066')).toBe(
      'is_admin [U+202E][U+2066]# then[U+2069][U+2066]',
    );
  });

  it('names the controls of a terminal', () => {
    expect(withVisibleControls('\u001b[31mred\u0007 \u009b2J')).toBe('[U+001B][31mred[U+0007] [U+009B]2J');
    expect(withVisibleControls('safe\rrm')).toBe('safe[U+000D]rm');
  });

  it('names letters without width and tags, in which text can be hidden', () => {
    expect(withVisibleControls('a\u200Bb\uFEFF\u{E0041}')).toBe('a[U+200B]b[U+FEFF][U+E0041]');
  });

  it('leaves what is written in any script alone, with tabs, lines and joined emojis', () => {
    const text = 'שלום\tمرحبا\r\nनमस्ते क्‍ष 👩‍💻 “x”\n';
    expect(withVisibleControls(text)).toBe(text);
  });
});

describe('Markdown from an agent', () => {
  it('shows overrides in prose, in code, in links and in names of languages', () => {
    const html = renderMarkdown(
      'a\u202Eb `c\u202Ed` [e\u202Ef](https://example.org/\u202Eg)\n\n```py\u202E\nh\u202Ei\n```',
    );
    expect(html).not.toContain('\u202E');
    expect(html.match(/\[U\+202E\]/g)?.length).toBeGreaterThanOrEqual(4);
    expect(renderPython('x = "\u2066"')).toContain('[U+2066]');
  });

  it.each([
    '<iframe src="https://example.org"></iframe><object data="x"></object>',
    '<a href="command:workbench.action.terminal.new">x</a>',
    '<svg/onload=alert(1)><style>*{display:none}</style>',
    '[x](command:workbench.action.terminal.new "t") <command:x> [y]: javascript:alert(1)',
    '[a]: data:text/html,<script>alert(1)</script>\n\n[a] ![b][a]',
    '![x](https://example.org/p.png) <img src="https://example.org/p.png">',
    '&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;',
    '```html\n</code></pre></div><script>alert(1)</script>\n```',
    '"><script>alert(1)</script>',
  ])('makes no element of its own that could act: %s', (source) => {
    const html = renderMarkdown(source);
    const elements = [...html.matchAll(/<([a-z0-9]+)/g)].map(([, name]) => name);
    const harmless = ['p', 'code', 'pre', 'div', 'span', 'button', 'br'];
    expect(elements.filter((name) => !harmless.includes(name!))).toEqual([]);
    expect(html).not.toMatch(/<[^>]*\s(?:href|src|style|on\w+)=/i);
    for (const [, address] of html.matchAll(/data-address="([^"]*)"/g)) expect(address).toMatch(/^https:/);
  });

  it('comes to an end with deep nesting and long runs', () => {
    const marks = ['[', '>', '*', '_', '`', '(', '![', '- '];
    for (const mark of marks) expect(renderMarkdown(mark.repeat(20_000))).not.toContain('<img');
  });

  it('has links only to https, and leaves opening them to the host', () => {
    const html = renderMarkdown('[manual](https://example.org/a?b=1&c="2)');
    expect(html).toContain('data-address="https://example.org/a?b=1&amp;c=%222"');
    expect(html).toContain('role="link"');
    for (const address of ['javascript:alert(1)', 'http://example.org', 'command:x', '//x.org'])
      expect(renderMarkdown(`[x](${address})`)).not.toContain('data-address');
  });

  it('colours Python, and code of no named language as Python', () => {
    expect(renderMarkdown('```\nreturn 1\n```')).toContain('<span class="hljs-keyword">return</span>');
    expect(renderMarkdown('```json\n{"return": 1}\n```')).not.toContain('hljs-');
  });

  it('puts the headings of a message below the heading that says who speaks', () => {
    expect(renderMarkdown('# One\n\n###### Six')).toBe('<h3>One</h3><h3>Six</h3>');
  });
});
