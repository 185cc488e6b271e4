import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { checkable, checkTask, brokenClaim } from '../../../src/core/grading/brokenClaim';
import { packLine, taskFromFunction, factsIn, factsOfTests, factsQuestion } from '../../../src/core/task/own';
import { answerByRules } from '../../../src/core/dialogue/rules';
import { functionNamed } from '../../../src/core/task/python/functions';
import { parseProgram } from '../../../src/core/task/row';
import { buildSandbox, type Sandbox } from '../../fixtures/sandbox';

const source = `import math

LIMIT = 20


def parcel_price(weight_kg):
    """The price of a parcel.

    Args:
        weight_kg: how heavy it is
    """
    return math.ceil(weight_kg) + (4.5 if weight_kg > LIMIT else 0)
`;
const parcelPrice = functionNamed(source, 'parcel_price')!;

let sandbox: Sandbox;
let grader: Grader;
beforeAll(async () => {
  sandbox = await buildSandbox();
  grader = await sandbox.open({ workers: 1 });
});
afterAll(() => sandbox.close());

it('makes a task whose reference passes its own tests, and which a pack reads again', async () => {
  const tests = ['parcel_price(1) == 1', 'parcel_price(20.5)'];
  const task = taskFromFunction(source, parcelPrice, { request: 'Prices.', tests });
  expect(await grader.checkReference(task)).toEqual([]);
  expect(await grader.grade(task, task.reference, { mode: 'fixed' })).toMatchObject({ success: true });
  const line = packLine(task);
  expect(line).toMatch(/^\{.*\}\n$/);
  expect(parseProgram(JSON.parse(line))).toEqual(task);
});

it('keeps the values that asserts want in the hidden tests', async () => {
  const tests = ['parcel_price(1) == 1', 'parcel_price(2) == 2'];
  const task = taskFromFunction(source, parcelPrice, { request: 'Prices.', tests });
  const { tests: results } = await grader.grade(task, 'def parcel_price(weight_kg):\n    return 2\n', {
    mode: 'fixed',
  });
  expect(results).toMatchObject([{ status: 'wrong', expected: '1', got: '2' }, { status: 'passed' }]);
  // A reference that was changed later no longer belongs to its tests.
  const changed = { ...task, reference: 'def parcel_price(weight_kg):\n    return 2\n' };
  expect(await grader.weakTests(changed)).toContain(
    'test1: The reference does not give 1 here, so every other value passes.',
  );
});

it('tells which assert a function does not fulfil, with both values', async () => {
  const broken = (...claims: string[]): ReturnType<typeof brokenClaim> =>
    brokenClaim(grader, { code: source, name: 'parcel_price', claims });
  expect(await broken('parcel_price(1) == 1', 'parcel_price(2) < 3')).toBeUndefined();
  expect(await broken()).toBeUndefined();
  expect(await broken('parcel_price(1) == 1', '[1, "a"] == parcel_price(30)')).toEqual({
    claim: '[1, "a"] == parcel_price(30)',
    values: { call: 'parcel_price(30)', wanted: "[1, 'a']", got: '34.5' },
  });
  expect(await broken('parcel_price(2) > 3')).toEqual({ claim: 'parcel_price(2) > 3' });
  expect((await broken('parcel_price("a") == 1'))?.failure).toMatch(/^TypeError: /);
});

it('takes the facts that a model drafts, and no other text', () => {
  const fact = { topic: 'limit', keywords: ['limit', 'heavy'], answers: ['Above 20 kg it is heavy.'] };
  expect(factsIn(`Here they are:\n\`\`\`json\n[${JSON.stringify(fact)}]\n\`\`\``)).toEqual([fact]);
  for (const text of ['', 'I cannot.', '[1]', '[]', ']x[', '[{"topic": "limit"}]'])
    expect(factsIn(text), text).toBeUndefined();
  expect(factsQuestion({ reference: source, request: 'Prices.' }).at(-1)?.content).toContain(source);
});

it('drafts facts from tests without a model, which the rules tell', () => {
  const tests = ['parcel_price(20.5) == 25.5', 'parcel_price(1)'];
  const facts = factsOfTests(tests, 'parcel_price');
  expect(facts).toEqual([
    {
      topic: 'parcel_price(20.5)',
      keywords: ['example', 'examples', '20.5'],
      answers: ['For example, parcel_price(20.5) gives 25.5.'],
    },
  ]);
  const task = taskFromFunction(source, parcelPrice, { request: 'Prices.', tests, facts });
  expect(parseProgram(JSON.parse(packLine(task)))).toEqual(task);
  const told = answerByRules(task, 'Can you give me an example?', { history: [], seed: 0 });
  expect(told).toContain('parcel_price(20.5) gives 25.5');
});

it('grades claims about a function without a reference', async () => {
  const claims = ['f(1) == 2', 'not f(-1)', 'f("x")', '[f(x) for x in (1, 2)] == [2, 3]'];
  const grade = await grader.grade(checkTask(claims, 'f'), checkable('def f(x):\n    return x + 1\n'), {
    mode: 'fixed',
  });
  expect(grade.tests.map(({ status }) => status)).toEqual(['passed', 'passed', 'error', 'passed']);
  const wrong = await grader.grade(checkTask(claims, 'f'), checkable('def f(x): return 5'), {
    mode: 'fixed',
  });
  expect(wrong.tests.map(({ status }) => status)).toEqual(['wrong', 'wrong', 'passed', 'wrong']);
});
