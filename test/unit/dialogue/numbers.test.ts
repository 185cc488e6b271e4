import { expect, test } from 'vitest';
import { numbersOfCode } from '../../../src/core/dialogue/debrief';

test.each([
  ['price = 10 + 23', [10, 23, 33]],
  // Python multiplies first: nothing here is 10 + 2.
  ['price = 10 + 23 * 4', [10, 23, 4, 92]],
  ['price = 10 + 2.5 / x', [10, 2.5]],
  ['seconds = 60 * 24', [60, 24, 1440]],
])('finds the numbers of %s', (code, numbers) => {
  expect([...numbersOfCode(code)].sort()).toEqual([...numbers].sort());
});
