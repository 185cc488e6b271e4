import { expect, it, vi } from 'vitest';
import { costWords, type Player } from '../../../../src/editor/collecting/ask';

vi.mock('vscode', () => import('../vscode'));

const use = {
  ...{ turns: 30, replies: 0, promptTokens: 200_000, completionTokens: 10_000 },
  uncounted: 0,
};
const lab: Player = { name: 'Lab', price: { prompt: 1, completion: 10 }, use, played: 10 };
const rules: Player = { name: 'rules', played: 10 };

it('says what dialogues cost by what those before cost, and nothing where no model has a price', () => {
  expect(costWords(100, [lab, rules])).toBe('Costs about $3.00, by 10 dialogues in this log.');
  expect(costWords(100, [lab, { ...lab, name: 'Other', played: 5 }])).toBe(
    'Costs about $9.00, by 5 dialogues in this log.',
  );
  expect(costWords(100, [rules])).toBe('');
});

it('says that the cost is not known before a model with a price has played', () => {
  expect(costWords(100, [{ ...lab, use: undefined, played: 0 }])).toMatch(
    /^What it costs is known as soon as Lab has played a dialogue/,
  );
});
