import { afterEach, expect, it, vi } from 'vitest';
import { keyHint, keyName } from '../../../../webview/ui/keyName';

afterEach(() => void vi.unstubAllGlobals());

it('a key is called as the keyboard calls it', () => {
  vi.stubGlobal('navigator', { userAgent: 'Linux' });
  expect(['Alt+Shift+A', 'Enter'].map(keyName)).toEqual(['Alt+Shift+A', '⏎']);
  vi.stubGlobal('navigator', { userAgent: 'Macintosh' });
  expect(keyName('Alt+Shift+A')).toBe('⌥⇧A');
});

it('a tooltip says the key too, which a narrow panel shows nowhere else', () => {
  vi.stubGlobal('navigator', { userAgent: 'Linux' });
  expect(keyHint('Drafts a reply', 'Alt+S')).toBe('Drafts a reply (Alt+S)');
  expect([keyHint(undefined, 'Alt+C'), keyHint(undefined, undefined)]).toEqual(['(Alt+C)', undefined]);
});
