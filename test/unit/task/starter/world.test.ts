import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { measureLeak } from '../../../../src/core/dialogue/leak';
import { parseProgram, taskToRow } from '../../../../src/core/task/row';
import { functionName, signatureIn } from '../../../../src/core/task/signature';
import { OPTIONS, type Value, type DecisionValues } from '../../../../src/core/task/starter/program';
import { codeFor, type Decision, type DecisionKind } from '../../../../src/core/task/starter/world';
import { runInPython } from '../../../fixtures/run-functions';
import { firstTasks, manyTasks, valuesOf } from '../../../fixtures/starter-world';
import { buildSandbox } from '../../../fixtures/sandbox';

const tasks = manyTasks();
const results = z.object({ value: z.array(z.number()).length(10) });
const listOf = (things: readonly (string | number)[]): string => `[${things.join(', ')}]`;
const callsOf = (i: number): string[] => tasks[i]!.task.testCases.map(({ call }) => call);

const expected = runInPython(
  tasks.map((task, i) => ({ source: task.task.reference, calls: [listOf(callsOf(i))] })),
).map(([result]) => results.parse(result).value);

/** Returns whether each program with these values passes all tests of task `i` in CPython. */
function succeed(programs: readonly { i: number; values: DecisionValues }[]): boolean[] {
  const jobs = programs.map(({ i, values }) => ({
    source: codeFor(tasks[i]!, values),
    calls: [`${listOf(callsOf(i))} == ${listOf(expected[i]!)}`],
  }));
  return runInPython(jobs).map(([result]) => isDeepStrictEqual(result, { value: true }));
}

/** Returns the success rate of programs with these values over all tasks. */
const successRate = (values: (i: number) => DecisionValues): number =>
  succeed(tasks.map((_, i) => ({ i, values: values(i) }))).filter(Boolean).length / tasks.length;

test('a task is a row of ColBench: a short request that ends with the signature, a short reference, ten different calls', () => {
  for (const { task } of tasks) {
    expect(parseProgram(JSON.parse(JSON.stringify(taskToRow(task))))).toEqual(task);
    expect(task.id).toMatch(/^starter-(train|development|test)-[0-9a-f]{12}$/);
    expect(
      task.description.endsWith(` ${signatureIn(task.reference, functionName(task)!)!.slice(0, -1)}`),
      task.description,
    ).toBe(true);
    const words = task.description.split(' ').length;
    expect(words).toBeGreaterThanOrEqual(25);
    expect(words).toBeLessThanOrEqual(60);
    expect(task.reference.split('\n').length).toBeLessThanOrEqual(11);
    expect(new Set(task.testCases.map(({ call }) => call)).size).toBe(10);
    expect(task).toMatchObject({
      hiddenInformation: task.reference,
      source: 'Tandem starter world',
      license: 'MIT',
    });
  }
});

test('a description gives no value away, and an answer of the collaborator is a few words without code', () => {
  const answers = tasks.flatMap(({ task }) =>
    task.facts!.flatMap((fact) => fact.answers.map((answer) => ({ answer, reference: task.reference }))),
  );
  expect(tasks.filter(({ task }) => /\d/.test(task.description))).toEqual([]);
  expect(tasks.filter(({ task }) => task.facts!.some((fact) => new Set(fact.answers).size < 3))).toEqual([]);
  expect(answers.filter(({ answer }) => answer.split(' ').length > 10)).toEqual([]);
  const leaks = answers.filter(({ answer, reference }) => measureLeak(reference, answer).fraction !== 0);
  expect(leaks).toEqual([]);
});

test('the same seed gives the same tasks, another seed others, and no task comes twice', () => {
  const world = { split: 'train', seed: 7, difficulty: 'standard' } as const;
  const ids = firstTasks(500, world).map(({ task }) => task.id);
  expect(firstTasks(500, world).map(({ task }) => task.id)).toEqual(ids);
  expect(new Set(ids).size).toBe(500);
  const others = new Set(firstTasks(500, { ...world, seed: 8 }).map(({ task }) => task.id));
  expect(ids.filter((id) => others.has(id))).toEqual([]);
});

test('splits share no task and no structure', () => {
  const splitsOf = (key: (i: number) => string): Map<string, Set<string>> => {
    const splits = new Map<string, Set<string>>();
    for (const [i, { task }] of tasks.entries()) {
      const split = task.id.split('-')[1]!;
      splits.set(key(i), (splits.get(key(i)) ?? new Set()).add(split));
    }
    return splits;
  };
  for (const splits of [
    splitsOf((i) => tasks[i]!.structure),
    splitsOf((i) => tasks[i]!.task.description + tasks[i]!.task.reference),
  ]) {
    expect([...splits].filter(([, { size }]) => size > 1)).toEqual([]);
  }
});

test('changing any one decision, or leaving it out, fails at least one test', () => {
  const changes = tasks.flatMap((_, i) => changesOf(i).map((values) => ({ i, values })));
  expect(changes.length).toBeGreaterThan(10_000);
  const succeeded = succeed(changes);
  const survivors = changes.filter((_, c) => succeeded[c]);
  expect(survivors.map(({ i, values }) => `${tasks[i]!.task.id} ${JSON.stringify(values)}`)).toEqual([]);
});

test('in the grader references pass all their tests, and fail one with a decision changed', async () => {
  const sandbox = await buildSandbox();
  try {
    const grader = await sandbox.open();
    const succeeds = async (i: number, values: DecisionValues): Promise<boolean | null> => {
      const { task } = tasks[i]!;
      return (await grader.grade(task, codeFor(tasks[i]!, values), { mode: 'fixed' })).success;
    };
    const wrong = await Promise.all(
      tasks.map(async (task, i) => {
        // CPython ran every task and every change above; a sample suffices to show that the grader agrees.
        if (i % 24 > 0) return [];
        const right = await succeeds(i, valuesOf(task));
        const changes = changesOf(i);
        const changed = await succeeds(i, changes[i % changes.length]!);
        return right === true && changed === false ? [] : [task.task.id];
      }),
    );
    expect(wrong.flat()).toEqual([]);
  } finally {
    await sandbox.close();
  }
});

test('who asks nothing succeeds in less than a task of twenty, even knowing which decisions there are', () => {
  const guess = mostFrequentValues();
  const guessing = (i: number, only: (decision: Decision) => boolean): DecisionValues =>
    Object.fromEntries(tasks[i]!.decisions.filter(only).map(({ kind }) => [kind, guess[kind]]));
  expect(successRate((i) => guessing(i, () => true))).toBeLessThan(0.05);
  expect(successRate((i) => guessing(i, ({ cued }) => cued))).toBeLessThan(0.05);
});

test('no answer that is the same for every task succeeds in one of fifty: no constant, no fixed decisions', () => {
  for (const results of expected) expect(new Set(results).size).toBeGreaterThanOrEqual(4);
  const together = tasks.map((task) => JSON.stringify(valuesOf(task)));
  const frequency = (values: string): number => together.filter((other) => other === values).length;
  const likely = [...new Set(together)].toSorted((a, b) => frequency(b) - frequency(a)).slice(0, 2);
  for (const values of ['{}', ...likely]) {
    expect(
      successRate(() => JSON.parse(values) as DecisionValues),
      values,
    ).toBeLessThan(0.02);
  }
});

/** Returns all variants of the task's values with one changed or left out. */
function changesOf(i: number): DecisionValues[] {
  const { decisions } = tasks[i]!;
  const values = valuesOf(tasks[i]!);
  return decisions.flatMap(({ kind, value, options }) => [
    ...options.filter((option) => option !== value).map((option) => ({ ...values, [kind]: option })),
    // Leaving out these two still decides them: strictly above, and the discount first.
    ...(kind === 'strictness' || kind === 'order' ? [] : [{ ...values, [kind]: undefined }]),
  ]);
}

function mostFrequentValues(): Record<DecisionKind, Value> {
  const all = tasks.flatMap(({ decisions }) => decisions);
  const count = (kind: DecisionKind, option: Value): number =>
    all.filter((decision) => decision.kind === kind && decision.value === option).length;
  return Object.fromEntries(
    Object.entries(OPTIONS).map(([kind, options]) => [
      kind,
      options.toSorted((a, b) => count(kind as DecisionKind, b) - count(kind as DecisionKind, a))[0]!,
    ]),
  ) as Record<DecisionKind, Value>;
}
