import { expect, test } from 'vitest';
import { parseProgram, taskToRow } from '../../../src/core/task/row';
import { functionName, signatureIn } from '../../../src/core/task/signature';
import { taskRow } from '../../fixtures/tasks';

const fact = { topic: 'weight limit', keywords: ['limit', 'weight'], answers: ['It is 500 grams.'] };

test('a ColBench row is a task', () => {
  const row = taskRow();
  expect(parseProgram(row)).toEqual({
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
  expect(parseProgram(taskRow({ ...extra, difficulty: 3 }))).toMatchObject(extra);
  expect(parseProgram(taskRow({ ...extra, difficulty: 3 }))).not.toHaveProperty('difficulty');
});

test('a specification is kept, and its check cannot pass more tests than there are', () => {
  const check = { by: 'openai:checker', passed: 9, tests: 10 };
  const specification = { requirements: ['It is 500 grams.'], by: 'openai:drafter', check };
  const task = parseProgram(taskRow({ specification }));
  expect(task.specification).toEqual(specification);
  expect(parseProgram(taskToRow(task))).toEqual(task);
  expect(() => parseProgram(taskRow({ specification: { ...specification, requirements: [] } }))).toThrow(
    'at least one entry',
  );
  const impossible = { ...specification, check: { ...check, passed: 11 } };
  expect(() => parseProgram(taskRow({ specification: impossible }))).toThrow('more passed tests than tests');
});

test('without hidden information the reference is what the collaborator knows', () => {
  for (const hidden_information of [undefined, null]) {
    const task = parseProgram(taskRow({ hidden_information }));
    expect(task.hiddenInformation).toBe(task.reference);
  }
});

test('a row that pandas or datasets saved again is the same task', () => {
  const row = taskRow({ id: '12', facts: [fact] });
  const nulls = { source: null, license: null, __index_level_0__: 3 };
  const padded = {
    ...{ ...row, ...nulls, id: 12 },
    test_cases: { ...(row.test_cases as object), test3: null },
    facts: [{ ...fact, keywords: [...fact.keywords, null], hint: null }, null],
  };
  expect(parseProgram(padded)).toEqual(parseProgram(row));
  for (const facts of [[], [null]])
    expect(parseProgram({ ...padded, facts })).toEqual(parseProgram({ ...row, facts: null }));
});

test('numbered tests come in the order of their numbers, others as they stand', () => {
  const names = (test_cases: object): string[] =>
    parseProgram(taskRow({ test_cases })).testCases.map(({ name }) => name);
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
  const task = parseProgram(row);
  expect(task.testCases).toEqual([
    { name: '__proto__', call: 'f(1)' },
    { name: 'constructor', call: 'f(2)' },
  ]);
  expect(parseProgram(JSON.parse(JSON.stringify(taskToRow(task))))).toEqual(task);
});

test('the id of a row without one depends on its content and on nothing else', () => {
  const id = (changes: Record<string, unknown>): string => parseProgram(taskRow(changes)).id;
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
  expect(parseProgram(taskRow()).id).toBe('1d8b6ad312728124');
});

test('a task goes back to the row it came from', () => {
  for (const row of [
    taskRow(),
    taskRow({ id: 'parcel-1', facts: [fact], source: 'our own', license: 'MIT' }),
  ]) {
    expect(taskToRow(parseProgram(row))).toEqual(row);
    expect(parseProgram(taskToRow(parseProgram(row)))).toEqual(parseProgram(row));
  }
});

test.each([
  [[1, 2], 'A task must be a JSON object, here an array of 2 numbers.'],
  [null, 'A task must be a JSON object, here null.'],
  [{}, 'The field problem_description is missing (2 more in this row).'],
])('%j is no task', (row, message) => {
  expect(() => parseProgram(row)).toThrow(expect.objectContaining({ code: 'task/bad-row', message }));
});

test.each([
  [{ ground_truth: ' \n' }, 'ground_truth is empty'],
  [{ ground_truth: 7 }, 'ground_truth must be a string, here a number'],
  [{ test_cases: [1, 'f(1)'] }, 'test_cases must be an object of call strings, here an array of 2 values'],
  [{ test_cases: {} }, 'test_cases is empty'],
  [{ test_cases: { test1: null } }, 'test_cases is empty'],
  [{ test_cases: undefined }, 'test_cases is missing'],
  [{ test_cases: { test1: 'f(1)', test2: { call: 'f(2)' } } }, 'test_cases["test2"] must be a string'],
  [{ test_cases: { test1: '' } }, 'test_cases["test1"] is empty'],
  [{ id: 1.5 }, 'id must be a string'],
  [{ facts: 'none' }, 'facts must be an array'],
  [{ facts: [fact, { ...fact, answers: [] }] }, 'facts[1]["answers"] must have at least one entry'],
  [{ facts: [{ ...fact, topic: undefined }] }, 'facts[0]["topic"] is missing'],
  [{ facts: [{ ...fact, keywords: null }] }, 'facts[0]["keywords"] is missing'],
])('a row with %j is refused with the field', (changes, part) => {
  const message = expect.stringContaining(part) as string;
  expect(() => parseProgram(taskRow(changes))).toThrow(
    expect.objectContaining({ code: 'task/bad-row', message }),
  );
});

test('the function of a task is the one that its tests call', () => {
  const task = parseProgram(
    taskRow({
      ground_truth: 'def helper(x):\n    return x\n\ndef parcel_fee(grams):\n    return helper(grams)\n',
      test_cases: { test1: 'round(parcel_fee(500), 2)', test2: 'parcel_fee (501)' },
    }),
  );
  expect(functionName(task)).toBe('parcel_fee');
  expect(signatureIn(task.description, 'parcel_fee')).toBe('def parcel_fee(grams: int) -> int:');
});

test('a task whose tests call nothing of the reference has no function name', () => {
  const task = parseProgram(taskRow({ test_cases: { test1: 'len("abc")' } }));
  expect(functionName(task)).toBeUndefined();
});
