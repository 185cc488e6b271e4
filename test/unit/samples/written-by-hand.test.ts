import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { measureLeak } from '../../../src/core/dialogue/leak';
import { parseAgentMessage } from '../../../src/core/dialogue/protocol';
import { ScriptModel } from '../../../src/core/model/script';
import { functionName } from '../../../src/core/task/signature';
import { runInPython, type Results } from '../../fixtures/run-functions';
import { mutations, scriptedAgentFile, starterPack } from '../../fixtures/starter';

const tasks = await starterPack();

const callsOf = (task: (typeof tasks)[number]): string[] => task.testCases.map(({ call }) => call);
const runReferences = (): Results =>
  runInPython(tasks.map((task) => ({ source: task.reference, calls: callsOf(task) })));

test('the pack has at least 28 tasks, each with a readable id of its own, ten different tests and two to five facts', () => {
  expect(tasks.length).toBeGreaterThanOrEqual(28);
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(tasks.length);
  for (const task of tasks) {
    expect(task.id).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(new Set(callsOf(task)).size, task.id).toBe(10);
    expect(task.facts!.length, task.id).toBeGreaterThanOrEqual(2);
    expect(task.facts!.length, task.id).toBeLessThanOrEqual(5);
    expect(task).toMatchObject({ source: 'Tandem handwritten pack', license: 'MIT' });
  }
});

test('a description ends with the signature of the reference, and the reference is short and one function', () => {
  for (const task of tasks) {
    const lines = task.reference.split('\n');
    const signature = lines[0]!.replace(/:$/, '');
    expect(signature).toMatch(/^def \w+\(.*\)$/);
    expect(task.description.endsWith(` The signature of the function is: ${signature}`), task.id).toBe(true);
    expect(lines.slice(1).every((line) => line.startsWith('    '))).toBe(true);
    expect(lines.length, task.id).toBeGreaterThanOrEqual(4);
    expect(lines.length, task.id).toBeLessThanOrEqual(12);
    expect(task.hiddenInformation).toBe(task.reference);
  }
});

test('every reference gives, in plain CPython, a value for each of its tests, the same twice, and not one constant', () => {
  const [first, second] = [runReferences(), runReferences()];
  expect(second).toEqual(first);
  for (const [i, task] of tasks.entries()) {
    const outputs = first[i]!;
    expect(outputs).toHaveLength(10);
    for (const output of outputs) {
      expect(output, task.id).toHaveProperty('value');
      expect(output, task.id).not.toEqual({ value: null });
    }
    expect(new Set(outputs.map((output) => JSON.stringify(output))).size, task.id).toBeGreaterThanOrEqual(3);
  }
});

test('each hidden decision matters: made in the naive way, it fails at least one test', () => {
  const expected = runReferences();
  const decisions = tasks.flatMap((task, i) =>
    task.facts!.map(({ topic }) => ({ task, topic, right: expected[i]! })),
  );
  for (const task of tasks)
    expect(Object.keys(mutations[task.id]!), task.id).toEqual(task.facts!.map(({ topic }) => topic));
  const naive = runInPython(
    decisions.map(({ task, topic }) => ({ source: mutations[task.id]![topic]!, calls: callsOf(task) })),
  );
  const survivors = decisions.filter(({ right }, i) => isDeepStrictEqual(naive[i], right));
  expect(survivors.map(({ task, topic }) => `${task.id}: ${topic}`)).toEqual([]);
});

test('the wordings of a fact are short sentences that give no code away', () => {
  for (const task of tasks) {
    for (const { topic, keywords, answers } of task.facts!) {
      expect(keywords.length, `${task.id}: ${topic}`).toBeGreaterThan(0);
      expect(answers.length, `${task.id}: ${topic}`).toBeGreaterThanOrEqual(2);
      expect(new Set(answers).size).toBe(answers.length);
      for (const answer of answers) {
        expect(answer.length).toBeLessThanOrEqual(200);
        expect(answer).toMatch(/[.!]$/);
        expect(measureLeak(task.reference, answer).fraction, `${task.id}: ${answer}`).toBe(0);
        expect(task.description).not.toContain(answer);
      }
    }
  }
});

test('the scripted demonstration asks about every task and then answers; about half of its answers are right', async () => {
  const agent = new ScriptModel(scriptedAgentFile);
  const answers: string[] = [];
  for (const task of tasks) {
    const turns: string[] = [];
    for (let turn = 1; turns.length === 0 || parseAgentMessage(turns.at(-1)!).answer === undefined; turn++) {
      expect(turn, task.id).toBeLessThanOrEqual(4);
      const position = { description: task.description, turn };
      turns.push((await agent.generate([], { temperature: 0, maxTokens: 512 }, { position })).text);
    }
    expect(turns.length, task.id).toBeGreaterThanOrEqual(2);
    const answer = parseAgentMessage(turns.at(-1)!).answer!;
    expect(answer, task.id).toContain(`def ${functionName(task)!}(`);
    answers.push(/```python\n([\s\S]*?)```/.exec(answer)![1]!);
  }
  const expected = runReferences();
  const got = runInPython(tasks.map((task, i) => ({ source: answers[i]!, calls: callsOf(task) })));
  const right = got.filter((outputs, i) => isDeepStrictEqual(outputs, expected[i]));
  expect(right).toHaveLength(tasks.length / 2);
});
