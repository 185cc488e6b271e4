import { expect, it } from 'vitest';
import { table } from '../../../src/cli/terminal';

it('aligns a table of as many rows as a large file of answers has', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [`answer-${index}`, '10/10']);
  const lines = table([['answer', 'tests'], ...rows]).split('\n');
  expect(lines).toHaveLength(200_001);
  expect([lines[0], lines[1], lines.at(-1)]).toEqual([
    'answer         tests',
    'answer-0       10/10',
    'answer-199999  10/10',
  ]);
});
