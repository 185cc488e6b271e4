import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../../../webview/dialogue/markdown';

describe('Markdown from an agent', () => {
  it('has links only to https, and leaves opening them to the host', () => {
    const html = renderMarkdown('[manual](https://example.org/a?b=1&c="2)');
    expect(html).toContain('data-address="https://example.org/a?b=1&amp;c=%222"');
    expect(html).toContain('role="link"');
    expect(html).not.toContain('href');
    for (const address of [
      'javascript:alert(1)',
      'http://example.org',
      'command:x',
      'data:text/html,x',
      '//x.org',
    ]) {
      expect(renderMarkdown(`[x](${address})`)).not.toContain('data-address');
    }
  });

  it('colours Python, and code of no named language as Python', () => {
    expect(renderMarkdown('```\nreturn 1\n```')).toContain('<span class="hljs-keyword">return</span>');
    expect(renderMarkdown('```json\n{"return": 1}\n```')).not.toContain('hljs-');
  });

  it('puts the headings of a message below the heading that says who speaks', () => {
    expect(renderMarkdown('# One\n\n###### Six')).toBe('<h3>One</h3><h3>Six</h3>');
  });
});
