import { expect, test } from 'vitest';
import { seconds } from '../../../../scripts/setup/steps.mjs';

test('times read as a person says them', () => {
  expect([440, 86_400, 200_000].map(seconds)).toEqual(['0.4 s', '86 s', '3 min 20 s']);
});
