import { expect, it } from 'vitest';
import { leaderboardOf, type Judgement } from '../../../../src/core/evaluation/leaderboard/leaderboard';
import { placeRow, remarkRows } from '../../../../src/editor/leaderboard/words';
import { english } from '../translate';

const won: Judgement = { agents: ['starter', 'openai:gpt-4o'], picked: 0 };

it('a row of the standing says how probably the model is chosen, with its interval and its games', () => {
  const standing = leaderboardOf([won, won, won, { ...won, picked: 'equal' }]);
  const [first] = standing.places.map((place) => placeRow(place, place.model, english));
  expect(first?.label).toBe('starter');
  expect(first?.description).toMatch(/^\d\d % \[\d\d–\d\d\] · 3 won, 0 lost$/);
  expect(first?.tooltip).toContain('4 choices: 3 won, 0 lost, 1 equal, 0 neither');
  expect(remarkRows(standing, english)).toMatchObject([
    { label: '4 choices', tooltip: '4 choices.' },
    {
      label: 'Position bias',
      description: 'first chosen 100 % [44–100] of 3',
      tooltip: expect.stringMatching(/^Position bias: first chosen in 100.0 %/) as string,
    },
  ]);
});

it('a model that was compared with no other has no figure', () => {
  const standing = leaderboardOf([{ agents: ['starter', 'starter'], picked: 1 }]);
  expect(standing.places.map((place) => placeRow(place, place.model, english))).toMatchObject([
    { label: 'starter', description: 'no comparisons yet' },
  ]);
  expect(remarkRows(standing, english)[0]?.tooltip).toBe(
    '1 choice, of which 1 between two messages of one model, which rank nothing.',
  );
});

it('a model is called as the person calls it, and its whole name is told on hover', () => {
  const [first] = leaderboardOf([won]).places;
  expect(placeRow(first!, 'Lab', english)).toMatchObject({
    label: 'Lab',
    tooltip: expect.stringMatching(/^Lab \(starter\)\n/) as string,
  });
});
