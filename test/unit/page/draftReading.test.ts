import { describe, expect, it } from 'vitest';
import { OutlineReading } from '../../../src/core/page/draftReading';
import type { PageText } from '../../../src/core/page/outline';
import { page, text } from './pages';

const title = text('Golden Crust', 0, { role: 'title' });
const welcome = text('Fresh bread every morning', 40);
const hours = text('Open from six', 80);
const wanted = page([title, welcome, hours]);

const reading = (...texts: readonly PageText[]): OutlineReading => new OutlineReading(page(texts), wanted);
const mistake = (of: OutlineReading, start: string) =>
  of.mistakes.find(({ aspects: [aspect = ''] }) => aspect.startsWith(start))!;

const red: Partial<PageText> = { color: [255, 0, 0] };

describe('what a later draft has right', () => {
  it('is a told color once the color is right, whatever else is wrong', () => {
    const color = mistake(reading({ ...title, ...red }, welcome, hours), 'text color');
    expect(reading(title, hours).hasRight(color)).toBe(true);
    expect(reading({ ...title, color: [0, 0, 255] }, welcome, hours).hasRight(color)).toBe(false);
  });

  it('is not the color of a text that is gone, nor one whose words still differ', () => {
    expect(reading(welcome).hasRight(mistake(reading({ ...title, ...red }), 'text color'))).toBe(false);
    const wording = mistake(reading({ ...title, text: 'Golden Crest' }), 'wording');
    expect(reading({ ...title, text: 'Golden Crost' }).hasRight(wording)).toBe(false);
    expect(reading(title).hasRight(wording)).toBe(true);
  });

  it('is a text that should not be there once it is gone, and a text that is no longer missing', () => {
    const extra = mistake(reading(title, text('Call now', 120)), 'extra text');
    expect(reading(title, text('Call now', 160)).hasRight(extra)).toBe(false);
    expect(reading(title).hasRight(extra)).toBe(true);
    const missing = mistake(reading(title), 'missing text 1');
    expect(reading(title, welcome).hasRight(missing)).toBe(true);
    expect(reading(title, hours).hasRight(missing)).toBe(false);
  });

  it('is an order that was told once the two stand as wanted', () => {
    const swapped = reading(title, text(hours.text, 40), text(welcome.text, 80));
    const order = mistake(swapped, 'order');
    expect(reading(title, welcome, hours).hasRight(order)).toBe(true);
    expect(swapped.hasRight(order)).toBe(false);
    expect(reading(title, welcome).hasRight(order)).toBe(false);
  });
});

describe('a regression', () => {
  const perfect = reading(title, welcome, hours);

  it('is anything that was right and is wrong now', () => {
    expect(reading({ ...title, ...red }, welcome, hours).isWorseThan(perfect)).toBe(true);
    expect(reading(title, hours).isWorseThan(perfect)).toBe(true);
    expect(reading(title, welcome, hours, text('Call now', 120)).isWorseThan(perfect)).toBe(true);
    expect(perfect.isWorseThan(reading(title))).toBe(false);
  });

  it('is not what was wrong before, or could not be seen before', () => {
    const before = reading({ ...title, ...red }, text('Call now', 120));
    expect(reading({ ...title, color: [0, 0, 255] }, text('Call us', 120)).isWorseThan(before)).toBe(false);
    expect(
      reading({ ...title, ...red }, { ...welcome, ...red }, text('Call now', 120)).isWorseThan(before),
    ).toBe(false);
  });
});
