import { expect, it, vi } from 'vitest';
import { estimateWords, type Player } from '../../../../src/editor/collecting/askExtent';

vi.mock('vscode', () => import('../vscode'));

const use = { turns: 30, replies: 0, promptTokens: 200_000, completionTokens: 10_000, uncounted: 0 };
const free: Player = { name: 'Own', use, played: 10, sides: 10, plays: 1 };
const lab: Player = { ...free, name: 'Lab', price: { prompt: 1, completion: 10 } };
const none = { ...use, promptTokens: 0, completionTokens: 0, uncounted: 30 };
const unknown = { use: undefined, played: 0, sides: 0 };

it.each<[string, number, readonly Player[], RegExp]>([
  ['by the dialogues before', 13, [free], /^About 260,000 .* 13,000 .* by 10 dialogues/],
  ['with the cost where a model has a price', 100, [lab], / 2,000,000 .* 100,000 .* \$3\.00/],
  ['of both sides, by the fewer dialogues', 10, [lab, { ...free, played: 5, sides: 5 }], / 600,000 .* by 5 /],
  ['twice for a model that plays both sides', 10, [{ ...free, plays: 2 }], /400,000 .* 20,000/],
  ['by the sides that were played before', 10, [{ ...free, sides: 20, plays: 2 }], /200,000 .* 10,000/],
  ['with two digits', 1, [{ ...free, played: 7, sides: 7 }], /29,000 .* 1,400/],
  [
    'as too low where tokens were not counted',
    10,
    [{ ...free, use: { ...use, uncounted: 3 } }],
    /^At least /,
  ],
  ['not at all where no model counts tokens', 10, [{ ...lab, use: none }], /^$/],
  ['not before a model has played', 100, [lab, { ...free, ...unknown }], /^Tokens .* Own has played/],
])('the use of tokens is estimated %s', (_, dialogues, players, words) => {
  expect(estimateWords(dialogues, players)).toMatch(words);
});
