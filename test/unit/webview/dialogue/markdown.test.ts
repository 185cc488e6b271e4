import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../../../webview/dialogue/markdown';

describe('Markdown from an agent', () => {
  it('lets no HTML through', () => {
    const html = renderMarkdown('<img src=x onerror=alert(1)> <script>alert(1)</script>');
    expect(html).not.toMatch(/<(img|script)/);
    expect(html).toContain('&lt;script&gt;');
  });

  it('shows no pictures, whose address could carry data away', () => {
    expect(renderMarkdown('![x](https://example.org/steal?q=1)')).not.toContain('<img');
  });

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

  it('cannot break out of a code block’s language or content', () => {
    const html = renderMarkdown('```"><script>\n</code></pre><script>alert(1)</script>\n```');
    expect(html).not.toContain('<script');
  });

  it('colours Python, and code of no named language as Python', () => {
    expect(renderMarkdown('```\nreturn 1\n```')).toContain('<span class="hljs-keyword">return</span>');
    expect(renderMarkdown('```json\n{"return": 1}\n```')).not.toContain('hljs-');
  });

  it('puts the headings of a message below the heading that says who speaks', () => {
    expect(renderMarkdown('# One\n\n###### Six')).toBe('<h3>One</h3><h3>Six</h3>');
  });

  it('gives each code block a button that copies it', () => {
    expect(renderMarkdown('```python\nx = 1\n```')).toContain('aria-label="Copy the code"');
  });
});
