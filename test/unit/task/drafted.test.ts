import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grader } from '../../../src/core/grading/grader';
import { checkable, checkTask } from '../../../src/core/task/checks';
import { draftedCalls, packLine, taskFromFunction, typedCalls } from '../../../src/core/task/drafted';
import { draftedRequest, isOwnFunction, ownTask } from '../../../src/core/task/own';
import { functionNamed } from '../../../src/core/task/python/functions';
import { parseTask } from '../../../src/core/task/row';
import { taskTitle } from '../../../src/core/task/title';
import { buildSandbox, type Sandbox } from '../grading/sandbox';

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

it('drafts a request from the docstring, else from the name', () => {
  expect(draftedRequest(parcelPrice)).toBe('I need a Python function: The price of a parcel.');
  const bare = functionNamed('def parse_date(text): ...', 'parse_date')!;
  expect(draftedRequest(bare)).toBe('I need a Python function that does this: parse date.');
});

it('makes a task without tests of a developer’s own function, with a title', () => {
  const task = ownTask(' Prices of parcels. ', parcelPrice.signature);
  expect(task).toMatchObject({ reference: '', hiddenInformation: '', testCases: [] });
  expect(task.description).toBe('Prices of parcels.\n\nThe signature is:\n\ndef parcel_price(weight_kg):');
  expect(isOwnFunction(task)).toBe(true);
  expect(taskTitle(task)).toBe('Parcel price');
});

it('makes a task whose reference passes its own tests, and which a pack reads again', async () => {
  const calls = draftedCalls(
    ['parcel_price(1) == 1', 'parcel_price(20.5) == 25.5', 'parcel_price(1) == 1'],
    'parcel_price',
  );
  expect(calls).toEqual(['parcel_price(1)', 'parcel_price(20.5)']);
  const task = taskFromFunction(source, parcelPrice, { request: 'Prices.', calls });
  expect(await grader.checkReference(task)).toEqual([]);
  expect(await grader.grade(task, task.reference, { mode: 'fixed' })).toMatchObject({ success: true });
  const line = packLine(task);
  expect(line).toMatch(/^\{.*\}\n$/);
  expect(parseTask(JSON.parse(line))).toEqual(task);
});

it('says which test a reference fails', async () => {
  const task = taskFromFunction(source, parcelPrice, { request: 'Prices.', calls: ['parcel_price("a")'] });
  const [failure] = await grader.checkReference(task);
  expect(failure).toMatch(/^test1: .*TypeError/);
});

it('takes calls apart at semicolons that are not in strings', () => {
  expect(typedCalls(' f(1); f("a;b") ;; f(\';\') ')).toEqual(['f(1)', 'f("a;b")', "f(';')"]);
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
