import { expect, it } from 'vitest';
import { ANSWER_OPENINGS } from '../../../../src/core/dialogue/markers';
import { Opening, OpeningTokens } from '../../../../src/core/model/local/opening';

const VOCABULARY = 1080;
const tokens = new OpeningTokens('media/starter', VOCABULARY);

/** Draws the token of this rank among those that may be drawn, until the opening is over. */
function written(rank: (count: number) => number): string {
  const opening = new Opening(tokens, ANSWER_OPENINGS);
  const logits = new Float32Array(VOCABULARY);
  let text = '';
  for (let step = 0; step < 60; step++) {
    const restricted = opening.restrict(logits);
    if (restricted === logits) return text;
    const allowed = [...restricted.keys()].filter((id) => restricted[id] === 0);
    const id = allowed[rank(allowed.length)]!;
    text += tokens.text(id);
    opening.push(id);
  }
  return expect.fail(`it goes on after ${text}`);
}

it('begins a message with one of the openings, whichever tokens write it', () => {
  // The starter model has one token for the opening and what follows it.
  expect(tokens.after('', ANSWER_OPENINGS).map((id) => tokens.text(id))).toContain(
    'I WANT TO ANSWER:\n```python\ndef',
  );
  for (const rank of [() => 0, (count: number) => count - 1, (count: number) => Math.floor(count / 2)]) {
    const text = written(rank);
    expect(ANSWER_OPENINGS.some((opening) => text.trimStart().startsWith(opening))).toBe(true);
  }
});

it('leaves the rest of the message to the model', () => {
  const opening = new Opening(tokens, ['I']);
  const logits = Float32Array.from({ length: VOCABULARY }, (_, id) => id);
  const first = opening.restrict(logits);
  expect(Math.max(...first)).toBeLessThan(VOCABULARY);
  opening.push(first.indexOf(Math.max(...first)));
  expect(opening.restrict(logits)).toBe(logits);
});

it('says that a model without such tokens cannot be forced', () => {
  expect(() => tokens.after('', ['☃'])).toThrow(expect.objectContaining({ code: 'model/foreign-folder' }));
});
