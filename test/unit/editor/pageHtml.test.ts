import { beforeEach, describe, expect, it, vi } from 'vitest';

const editor = vi.hoisted(() => ({
  l10n: { t: (sentence: string) => sentence, bundle: undefined as Record<string, string> | undefined },
  env: { language: 'de' },
  Uri: { joinPath: (folder: string, name: string) => `${folder}/${name}` },
}));
vi.mock('vscode', () => editor);

const { pageHtml } = await import('../../../src/editor/panel');

beforeEach(() => (editor.l10n.bundle = undefined));

function page(): string {
  const webview = { asWebviewUri: (uri: string) => uri, cspSource: 'https://page' };
  return pageHtml(webview as never, '/dist' as never, 'session');
}

describe('the page of a view', () => {
  it('hands over the sentences of the display language before its script', () => {
    editor.l10n.bundle = { Send: 'Senden' };
    const html = page();
    expect(html).toContain('<html lang="de">');
    expect(html.indexOf('{"Send":"Senden"}')).toBeLessThan(html.indexOf('src="/dist/session.js"'));
  });

  it('lets no sentence out of its element', () => {
    const hostile = '</script><script>alert(1)</script><!-- <ScRiPt> ]]> \u2028 "\' &lt;/script>';
    editor.l10n.bundle = { Send: hostile, [hostile]: 'x' };
    const html = page();
    const scripts = [...html.matchAll(/<script\b[^>]*>(.*?)<\/script\b/gis)];
    expect(scripts).toHaveLength(2);
    expect(html.match(/<\/script/gi)).toHaveLength(2);
    expect(html).not.toContain('<!--');
    expect(JSON.parse(scripts[0]![1]!)).toEqual(editor.l10n.bundle);
    expect(html).toContain(`script-src 'nonce-`);
    expect(scripts[0]![0]).not.toContain('nonce');
  });
});
