import { describe, expect, it } from 'vitest';
import { readReply } from '../../../src/core/page/claims';
import { OutlineReading } from '../../../src/core/page/draftReading';
import { page, text } from './pages';

const wanted = page(
  [
    text('Golden Crust', 0, { role: 'title' }),
    text('Fresh bread every morning', 40),
    text('Find us in the old mill', 80),
  ],
  { background: [191, 219, 254] },
);
const draft = page([
  text('Golden Crest', 0, { role: 'title' }),
  text('Find us in the old mill', 40),
  text('Call us now', 80),
]);
const reading = new OutlineReading(draft, wanted);

const read = (reply: string): unknown => {
  const { claims, unread } = readReply(reply, reading);
  return [claims.map(({ isTrue }) => isTrue), unread];
};

describe('the claims of a reply', () => {
  it('of the rules are all true', () => {
    const reply = `As I said: ${reading.mistakes.map(({ sentence }) => sentence).join(' ')}`;
    const { claims } = readReply(reply, reading);
    expect(claims.map(({ mistake }) => mistake)).toEqual(reading.mistakes);
    expect(claims.every(({ isTrue }) => isTrue)).toBe(true);
  });

  it.each([
    ['The text “Fresh bread every morning” is missing.', true],
    ['The text "Find us in the old mill" is missing!', false],
    ['Please add a text that says "fresh bread every morning".', true],
    ['There should be a button “Order cakes here”.', false],
    ['Remove the text “Call us now”, please.', true],
    ['The text “Find us in the old mill” should not be there.', false],
    ['It should say “Golden Crust.”', true],
    ['It should say “Golden Crown”.', false],
    ['The background of the page should be light blue.', true],
    ['The page background should be a blue tone.', true],
    ["The page's background should be #bfdbfe.", true],
    ['The background of the page should be green.', false],
    ['The page background should be #ff0000.', false],
    ['Move the text “Find us in the old mill” up.', true],
    ['Move the text “Our cakes of the week” up.', false],
    ['I like #bfdbfe there.', true],
    ['I like #123456 there.', false],
    ['Nothing is left to change.', false],
  ])('%s is %s', (reply, isTrue) => {
    expect(read(reply)).toEqual([[isTrue], 0]);
  });

  it.each([
    'Make it look more professional.',
    'The header needs more space. I prefer it wider!',
    'Make the text "bold".',
    'Use a “hero section” instead.',
    'The text on the left is “too close.',
    '«7» text is missing.',
  ])('are left unread where they are not certain: %s', (reply) => {
    const { claims, unread } = readReply(reply, reading);
    expect(claims).toEqual([]);
    expect(unread).toBeGreaterThan(0);
  });

  it('tell a mistake of the draft if they are true', () => {
    const { claims } = readReply(
      'Add the text “Fresh bread every morning”. It should say “Golden Crust”. Delete the text “Call us now”.',
      reading,
    );
    expect(claims.map(({ mistake }) => mistake?.aspects[0])).toEqual([
      'missing text 1',
      'wording 0',
      'extra text “Call us now”',
    ]);
  });
});
