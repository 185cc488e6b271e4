import { expect, test } from 'vitest';
import { parseTask, taskToRow } from '../../../src/core/task/row';
import { functionName, functionSignature } from '../../../src/core/task/signature';
import { taskRow } from '../../fixtures/tasks';

const fact = { topic: 'weight limit', keywords: ['limit', 'weight'], answers: ['It is 500 grams.'] };

test('a ColBench row is a task', () => {
  const row = taskRow();
  expect(parseTask(row)).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{16}$/) as string,
    description: row.problem_description,
    reference: row.ground_truth,
    testCases: [
      { name: 'test1', call: 'parcel_fee(500)' },
      { name: 'test2', call: 'parcel_fee(501)' },
    ],
    hiddenInformation: 'Up to 500 grams it costs 300, above that 700.',
  });
});

test('the optional fields are kept and unknown ones are left aside', () => {
  const extra = { id: 'parcel-1', facts: [fact], source: 'our own', license: 'MIT' };
  expect(parseTask(taskRow({ ...extra, difficulty: 3 }))).toMatchObject(extra);
  expect(parseTask(taskRow({ ...extra, difficulty: 3 }))).not.toHaveProperty('difficulty');
});

test('without hidden information the reference is what the collaborator knows', () => {
  for (const hidden_information of [undefined, null]) {
    const task = parseTask(taskRow({ hidden_information }));
    expect(task.hiddenInformation).toBe(task.reference);
  }
});

test('numbered tests come in the order of their numbers, others as they stand', () => {
  const names = (test_cases: object): string[] =>
    parseTask(taskRow({ test_cases })).testCases.map(({ name }) => name);
  expect(names({ test1: 'f(1)', test10: 'f(10)', test2: 'f(2)' })).toEqual(['test1', 'test2', 'test10']);
  expect(names({ test_late: 'f(2)', test_early: 'f(1)', test3: 'f(3)' })).toEqual([
    'test_late',
    'test_early',
    'test3',
  ]);
});

test('a test counts whatever its name is', () => {
  const row = JSON.parse(
    JSON.stringify(taskRow()).replace(
      /"test_cases":\{[^}]*\}/,
      '"test_cases":{"__proto__":"f(1)","constructor":"f(2)"}',
    ),
  ) as unknown;
  const task = parseTask(row);
  expect(task.testCases).toEqual([
    { name: '__proto__', call: 'f(1)' },
    { name: 'constructor', call: 'f(2)' },
  ]);
  expect(parseTask(JSON.parse(JSON.stringify(taskToRow(task))))).toEqual(task);
});

test('the id of a row without one depends on its content and on nothing else', () => {
  const id = (changes: Record<string, unknown>): string => parseTask(taskRow(changes)).id;
  expect(id({ source: 'elsewhere', hidden_information: 'other' })).toBe(id({}));
  expect(id({ test_cases: { test2: 'parcel_fee(501)', test1: 'parcel_fee(500)' } })).toBe(id({}));
  const others = [
    { problem_description: 'Another.' },
    { ground_truth: 'def parcel_fee(grams): return 1' },
    { test_cases: { test1: 'parcel_fee(500)' } },
  ];
  expect(new Set([id({}), ...others.map(id)]).size).toBe(4);
});

test('the id of a row is the same in every version of Tandem', () => {
  expect(parseTask(taskRow()).id).toBe('1d8b6ad312728124');
});

test('a task goes back to the row it came from', () => {
  for (const row of [
    taskRow(),
    taskRow({ id: 'parcel-1', facts: [fact], source: 'our own', license: 'MIT' }),
  ]) {
    expect(taskToRow(parseTask(row))).toEqual(row);
    expect(parseTask(taskToRow(parseTask(row)))).toEqual(parseTask(row));
  }
});

test.each<[string, unknown, string]>([
  ['no object', [1, 2], 'A task must be a JSON object, here an array of 2 numbers.'],
  ['null', null, 'A task must be a JSON object, here null.'],
  ['a string', 'task', 'A task must be a JSON object, here a string.'],
  ['an empty object', {}, 'The field problem_description is missing (2 more in this row).'],
  [
    'no description',
    taskRow({ problem_description: undefined }),
    'The field problem_description is missing.',
  ],
  ['an empty reference', taskRow({ ground_truth: ' \n' }), 'ground_truth is empty.'],
  ['a number as reference', taskRow({ ground_truth: 7 }), 'ground_truth must be a string, here a number.'],
  [
    'tests in an array',
    taskRow({ test_cases: [1, 2, 3] }),
    'test_cases must be an object of call strings, here an array of 3 numbers.',
  ],
  [
    'tests in a mixed array',
    taskRow({ test_cases: [1, 'f(1)'] }),
    'test_cases must be an object of call strings, here an array of 2 values.',
  ],
  [
    'tests in a string',
    taskRow({ test_cases: 'f(1)' }),
    'test_cases must be an object of call strings, here a string.',
  ],
  ['no tests', taskRow({ test_cases: {} }), 'test_cases is empty; a task needs at least one test.'],
  ['tests left out', taskRow({ test_cases: undefined }), 'The field test_cases is missing.'],
  [
    'a test that is no string',
    taskRow({ test_cases: { test1: 'f(1)', test2: { call: 'f(2)' } } }),
    'test_cases["test2"] must be a string, here an object.',
  ],
  ['an empty call', taskRow({ test_cases: { test1: '' } }), 'test_cases["test1"] is empty.'],
  ['an id that is a number', taskRow({ id: 12 }), 'id must be a string, here a number.'],
  ['an empty id', taskRow({ id: '' }), 'id is empty.'],
  ['facts that are no array', taskRow({ facts: 'none' }), 'facts must be an array, here a string.'],
  [
    'a fact without an answer',
    taskRow({ facts: [fact, { ...fact, answers: [] }] }),
    'facts[1]["answers"] must have at least one entry.',
  ],
  [
    'a fact without a topic',
    taskRow({ facts: [{ ...fact, topic: undefined }] }),
    'The field facts[0]["topic"] is missing.',
  ],
  [
    'a frontend row',
    { problem_description: 'A page.', ground_truth: '<!DOCTYPE html><html><body></body></html>' },
    'This is a frontend task; Tandem plays backend tasks.',
  ],
])('%s is refused with the field, what it must be and what it is', (_, row, message) => {
  expect(() => parseTask(row)).toThrow(expect.objectContaining({ code: 'task/bad-row', message }));
});

test('the function of a task is the one that its tests call', () => {
  const task = parseTask(
    taskRow({
      ground_truth: 'def helper(x):\n    return x\n\ndef parcel_fee(grams):\n    return helper(grams)\n',
      test_cases: { test1: 'round(parcel_fee(500), 2)', test2: 'parcel_fee (501)' },
    }),
  );
  expect(functionName(task)).toBe('parcel_fee');
  expect(functionSignature(task)).toBe('def parcel_fee(grams: int) -> int:');
});

test('a task whose tests call nothing of the reference has no function name', () => {
  const task = parseTask(taskRow({ test_cases: { test1: 'len("abc")' } }));
  expect(functionName(task)).toBeUndefined();
  expect(functionSignature(task)).toBeUndefined();
});
