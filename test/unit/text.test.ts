import { expect, it } from 'vitest';
import { linesOf } from '../../src/core/text';

it('cuts a text between words into lines of a length', () => {
  expect(linesOf('Start the server, or correct the address.', 17)).toEqual([
    'Start the server,',
    'or correct the',
    'address.',
  ]);
  expect(linesOf('see http://127.0.0.1:41170/v1 there', 8)).toEqual([
    'see',
    'http://127.0.0.1:41170/v1',
    'there',
  ]);
  expect(linesOf(' ', 5)).toEqual([]);
});
