import { expect, it, vi } from 'vitest';
import { estimateWords, type Player } from '../../../../src/editor/collecting/estimate';

vi.mock('vscode', () => import('../vscode'));

const use = {
  ...{ turns: 30, replies: 0, promptTokens: 200_000, completionTokens: 10_000 },
  uncounted: 0,
};
const free: Player = { name: 'Own', use, played: 10, sides: 10, plays: 1 };
const lab: Player = { ...free, name: 'Lab', price: { prompt: 1, completion: 10 } };

it('estimates tokens by the dialogues before, and the cost where a model has a price', () => {
  expect(estimateWords(13, [free])).toBe(
    'About 260,000 prompt and 13,000 completion tokens, going by 10 dialogues in this log.',
  );
  expect(estimateWords(100, [lab])).toBe(
    'About 2,000,000 prompt and 100,000 completion tokens for $3.00, going by 10 dialogues in this log.',
  );
});

it('adds up both sides, and goes by the fewer dialogues', () => {
  expect(estimateWords(10, [lab, { ...free, played: 5, sides: 5 }])).toBe(
    'About 600,000 prompt and 30,000 completion tokens for $0.30, going by 5 dialogues in this log.',
  );
});

it('counts a model twice that plays both sides, by the sides that it played before', () => {
  expect(estimateWords(10, [{ ...free, plays: 2 }])).toContain('400,000 prompt and 20,000 completion tokens');
  expect(estimateWords(10, [{ ...free, sides: 20, plays: 2 }])).toContain('200,000 prompt and 10,000');
  expect(estimateWords(10, [{ ...free, played: 15, sides: 20 }])).toContain('100,000 prompt and 5,000');
});

it('keeps two digits of an estimate', () => {
  expect(estimateWords(1, [{ ...free, played: 7, sides: 7 }])).toContain(
    '29,000 prompt and 1,400 completion',
  );
});

it('says that the sums are too low where a server counted no tokens for a message', () => {
  expect(estimateWords(10, [{ ...free, use: { ...use, uncounted: 3 } }])).toBe(
    'At least 200,000 prompt and 10,000 completion tokens, going by 10 dialogues in this log.',
  );
});

it('says nothing where no model counts tokens', () => {
  const none = { ...use, promptTokens: 0, completionTokens: 0, uncounted: 30 };
  expect(estimateWords(10, [{ ...lab, use: none }])).toBe('');
  expect(estimateWords(10, [])).toBe('');
});

it('says that tokens and cost are not known before a model has played', () => {
  const unknown = { use: undefined, played: 0, sides: 0 };
  expect(estimateWords(100, [lab, { ...free, ...unknown }])).toBe(
    'Tokens are known as soon as Own has played a dialogue: begin with a few.',
  );
  expect(estimateWords(100, [{ ...lab, ...unknown }])).toBe(
    'Tokens and cost are known as soon as Lab has played a dialogue: begin with a few.',
  );
});
