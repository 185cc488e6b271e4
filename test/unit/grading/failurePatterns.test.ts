import { expect, test } from 'vitest';
import { failurePatterns } from '../../../src/core/grading/failurePatterns';
import type { TestResult } from '../../../src/core/grading/grade';

const passed: TestResult = { status: 'passed', milliseconds: 1 };
const wrong = (expected: string, got: string): TestResult => ({
  status: 'wrong',
  expected,
  got,
  milliseconds: 1,
});
const error = (type: string): TestResult => ({ status: 'error', type, message: 'no' });

function patternsOf(tests: readonly TestResult[], calls = tests.map((_, index) => `f(${index + 1})`)) {
  const testCases = calls.map((call) => ({ name: call, call }));
  return failurePatterns({ testCases }, { mode: 'fixed', reward: 0, success: false, tests });
}

test.each<[string, [string, string][], object]>([
  [
    'another unit',
    [
      ['300.0', '5.0'],
      ['3150.0', '52.5'],
      ['4500', '75'],
    ],
    { kind: 'factor', factor: 0.0166666667 },
  ],
  [
    'a missing surcharge',
    [
      ['9.5', '5'],
      ['12.5', '8'],
      ['16.5', '12'],
    ],
    { kind: 'difference', difference: -4.5 },
  ],
  [
    'a missing maximum',
    [
      ['85', '120'],
      ['85', '90.5'],
      ['85', '200'],
    ],
    { kind: 'maximum', value: 85 },
  ],
  [
    'a missing minimum',
    [
      ['28', '3'],
      ['28', '4.5'],
    ],
    { kind: 'minimum', value: 28 },
  ],
  [
    'a wrong sign',
    [
      ['5.0', '-5.0'],
      ['2.5', '-2.5'],
      ['-1', '1'],
    ],
    { kind: 'sign' },
  ],
  [
    'missing rounding',
    [
      ['35', '34.6'],
      ['7', '7.25'],
      ['11', '10.75'],
    ],
    { kind: 'fraction' },
  ],
  [
    'other decimals',
    [
      ['3.14', '3.141'],
      ['2.72', '2.718'],
      ['1.5', '1.497'],
    ],
    { kind: 'near', below: 0.01 },
  ],
  [
    'no return',
    [
      ['4', 'None'],
      ['[]', 'None'],
    ],
    { kind: 'none' },
  ],
  [
    'text for a number',
    [
      ['4.5', "'4.5'"],
      ['2', "'2'"],
    ],
    { kind: 'type', expected: 'number', got: 'str' },
  ],
  [
    'another order',
    [
      ["['a, b', 'c']", "['c', 'a, b']"],
      ['[[1, 2], 3]', '[3, [1, 2]]'],
    ],
    { kind: 'order' },
  ],
  [
    'small letters',
    [
      ["'Ab'", "'ab'"],
      ["'C'", "'c'"],
    ],
    { kind: 'case' },
  ],
  [
    'a missing space',
    [
      ["'a b'", "'ab'"],
      ["'c '", "'c'"],
    ],
    { kind: 'spaces' },
  ],
])('%s shows in the results', (_, pairs, kind) => {
  const tests = pairs.map(([expected, got]) => wrong(expected, got));
  expect(patternsOf([passed, ...tests])).toEqual([{ ...kind, count: pairs.length, call: 'f(2)' }]);
});

test('errors count by their type, the most frequent first', () => {
  const tests = [error('KeyError'), error('KeyError'), ...['a', 'b', 'c'].map(() => error('TypeError'))];
  expect(patternsOf([...tests, { status: 'timed-out', limitMilliseconds: 9 }])).toEqual([
    { kind: 'error', type: 'TypeError', count: 3, call: 'f(3)' },
    { kind: 'error', type: 'KeyError', count: 2, call: 'f(1)' },
  ]);
});

test('an empty input shows when it alone fails', () => {
  const calls = ['mark([1, 2])', 'mark([])', "mark([''])"];
  const empty = { kind: 'empty', count: 1, call: 'mark([])' };
  expect(patternsOf([passed, wrong('0', '-1'), passed], calls)).toEqual([empty]);
  expect(patternsOf([wrong('3', '-1'), wrong('0', '-1'), passed], calls)).toEqual([]);
});

test.each<[string, [string, string][]]>([
  ['one failure', [['35', '34.6']]],
  [
    'failures with nothing in common',
    [
      ['4', '9'],
      ['100', '3'],
      ['7', '21'],
    ],
  ],
  [
    'one wrong result in place of one expected',
    [
      ['85', '90'],
      ['85', '90'],
    ],
  ],
  [
    'a value below another expected one',
    [
      ['13', '15'],
      ['13', '17'],
      ['45', '90'],
    ],
  ],
  [
    'a factor that no unit has',
    [
      ['16', '17'],
      ['32', '34'],
      ['48', '51'],
    ],
  ],
  [
    'shortened values',
    [
      ["['a', 'b', …", "['b', 'a', …"],
      ["['c', …", "['d', …"],
    ],
  ],
])('%s are no pattern', (_, pairs) => {
  expect(patternsOf(pairs.map(([expected, got]) => wrong(expected, got)))).toEqual([]);
});
