import { expect, it } from 'vitest';
import { leaderboardOf } from '../../../../src/core/evaluation/leaderboard/leaderboard';
import { placeRow, remarkRows } from '../../../../src/editor/leaderboard/words';
import { english } from '../translate';

it('a row of the standing says how probably the model is chosen, with its interval and its games', () => {
  const won = { agents: ['starter', 'openai:gpt-4o'], picked: 0 } as const;
  const standing = leaderboardOf([won, won, won, { ...won, picked: 'equal' }]);
  const row = placeRow(standing.places[0]!, 'Lab', english);
  expect(row).toMatchObject({ label: 'Lab', tooltip: expect.stringMatching(/^Lab \(starter\)\n/) as string });
  expect(row.description).toMatch(/^\d\d % \[\d\d–\d\d\] · 3 won, 0 lost$/);
  expect(remarkRows(standing, english)[1]?.description).toContain('100 % [44–100] of 3');
});
