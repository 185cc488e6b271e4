import { describe, expect, it, vi } from 'vitest';
import type { Pin } from '../../../../webview/pages/protocol';
import { withoutUnnamed, withPins } from '../../../../webview/session/host';

vi.hoisted(() => vi.stubGlobal('acquireVsCodeApi', () => ({})));

const pin = (words: string): Pin => ({ of: 'draft', x: 0.5, y: 0.5, words });
const [title, link, foot] = [pin('the title'), pin('the link'), pin('the foot')];

describe('pins in a reply', () => {
  it('names a new pin at the caret, set off from the word before', () => {
    expect(withPins({ text: '' }, [title], 0)).toEqual({ text: '[1] the title: ', caret: 15 });
    const { text, caret } = withPins({ text: 'Hello. Bye.', pins: [title] }, [title, link], 6);
    expect(text.slice(0, caret)).toBe('Hello. [2] the link: ');
    expect(text.slice(caret)).toBe(' Bye.');
  });

  it('takes a removed pin out of the text, and numbers the others anew', () => {
    const text = '[1] the title: bigger. [2] the link: green. [3] the foot: gone.';
    const pins = [title, link, foot];
    expect(withPins({ text, pins }, [title, foot], 0).text).toBe(
      '[1] the title: bigger. green. [2] the foot: gone.',
    );
  });

  it('drops pins that the text does not name, and leaves other brackets as they are', () => {
    expect(withoutUnnamed('[2] the link: green, not [9].', [title, link])).toEqual({
      text: '[1] the link: green, not [9].',
      pins: [link],
    });
    expect(withoutUnnamed('Just words.', [title])).toEqual({ text: 'Just words.' });
  });
});
