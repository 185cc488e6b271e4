import { expect, test } from 'vitest';
import { debriefOf } from '../../../src/core/dialogue/debrief';
import type { Grade } from '../../../src/core/grading/grade';
import type { Fact, ProgramTask } from '../../../src/core/task/task';
import type { EventOf } from '../../../src/core/trajectory/event';
import { mutations, naturalQuestions, starterPack } from '../../fixtures/starter';

const tasks = await starterPack();
const failed: Grade = { mode: 'fixed', reward: 0.5, success: false, tests: [] };
const passed: Grade = { mode: 'fixed', reward: 1, success: true, tests: [] };

const bill: ProgramTask = {
  id: 'bill',
  description:
    'Write the parking bill in whole numbers. The signature of the function is: def bill(minutes, rate)',
  reference:
    'def bill(minutes, rate):\n    total = minutes * rate\n    total -= total * 30 / 100\n    return int(min(total, 85) + 0.5)',
  testCases: [{ name: 'test1', call: 'bill(3, 2.25)' }],
  hiddenInformation: '',
  facts: [
    { topic: 'discount', keywords: ['percent'], answers: ['Take 30 percent off.', 'It is 30 percent.'] },
    { topic: 'maximum', keywords: ['highest'], answers: ['The maximum is 85.', 'Please cap it at 85.'] },
    { topic: 'rounding', keywords: ['round'], answers: ['Round to the nearest.', 'The nearest, please.'] },
  ],
};

function turn(index: number, [question, text]: readonly [string, string]) {
  const event = { version: 1, at: '2026-11-29T10:00:00.000Z', episode: 'e', turn: index + 1 } as const;
  const reply: EventOf<'reply'> = { ...event, event: 'reply', text, author: 'developer', by: 'ada' };
  return {
    agent: {
      ...event,
      event: 'agent-turn',
      text: `OUTPUT:\n${question}`,
      finishReason: 'stop',
      model: 'starter',
    } as const,
    reply,
  };
}

const debrief = (
  exchanges: readonly (readonly [string, string])[],
  { task = bill, answer = 'def bill(minutes, rate):\n    return minutes * rate', grade = failed } = {},
) => debriefOf({ task, turns: exchanges.map((pair, index) => turn(index, pair)), answer, grade });

const ignoredIn = (...given: Parameters<typeof debrief>): string[] =>
  debrief(...given).ignored.map(({ number, topic }) => `${number} ${topic}`);

test('a topic is unasked when neither a question nor a reply is about it', () => {
  const exchanges = [['What is the highest bill?', 'Please cap it at 85.']] as const;
  expect(debrief(exchanges)).toMatchObject({
    decided: ['discount', 'maximum', 'rounding'],
    unasked: ['discount', 'rounding'],
  });
});

test.each([
  ['in words of their own', 'There is a discount as well, 30 off.'],
  ['with a keyword', 'Also round it.'],
])('what a developer says %s without being asked is not unasked', (_, reply) => {
  expect(debrief([['What is the highest bill?', reply]]).unasked).toHaveLength(1);
});

const wordings = (fact: Fact, index: number): string => fact.answers[index % fact.answers.length]!;

test('no natural question leaves its topic unasked, and the reference ignores nothing', () => {
  const wrong: string[] = [];
  for (const task of tasks)
    for (const version of [0, 1, 2]) {
      const exchanges = task.facts!.map((fact) => {
        const questions = naturalQuestions[task.id]![fact.topic]!;
        return [questions[version % questions.length]!, wordings(fact, version)] as const;
      });
      const { unasked, ignored } = debrief(exchanges, { task, answer: task.reference });
      wrong.push(...unasked, ...ignored.map(({ number }) => `${task.id}: ${number}`));
    }
  expect(wrong).toEqual([]);
});

test('a number counts as ignored only with the fact that the answer decides another way', () => {
  const said: string[] = [];
  for (const task of tasks)
    for (const { topic } of task.facts!) {
      const exchanges = task.facts!.map((fact) => ['What else?', wordings(fact, 0)] as const);
      const { ignored } = debrief(exchanges, { task, answer: mutations[task.id]![topic]! });
      said.push(
        ...ignored.map((one) => (one.topic === topic ? 'right' : `${task.id}, ${topic}: ${one.number}`)),
      );
    }
  expect(new Set(said)).toEqual(new Set(['right']));
  expect(said.length).toBeGreaterThan(20);
});

const told = [
  ['How many percent?', 'Take 30 percent off.'],
  ['What is the highest bill?', 'At most 85, for example 85 for 200 minutes.'],
] as const;

test('numbers that the code does not have are ignored, unless all tests pass', () => {
  expect(ignoredIn(told)).toEqual(['30 discount', '85 maximum']);
  expect(ignoredIn(told, { grade: passed })).toEqual([]);
});

test.each([
  ['a fraction', 'total * (1 - 0.3)'],
  ['what is left', 'total * 0.7'],
  ['a quotient', 'total * 7 / 10'],
  ['a percentage', 'total * 70 / 100'],
])('a percentage may stand in the code as %s', (_, expression) => {
  const answer = `def bill(minutes, rate):\n    total = minutes * rate\n    return ${expression}`;
  expect(ignoredIn(told, { answer })).toEqual(['85 maximum']);
});

test.each([
  ['the other side of a boundary', 'total if total < 86 else 86 - 1'],
  ['cents', 'min(total, 8_500)'],
  ['a decimal', 'min(total, 85.00)'],
])('a number may stand in the code as %s', (_, expression) => {
  const answer = `def bill(minutes, rate):\n    total = minutes * rate * 0.7\n    return ${expression}`;
  const inEuros = [told[0], ['What is the highest bill?', 'At most 85 euros.']] as const;
  expect(ignoredIn(inEuros, { answer })).toEqual([]);
});

test('without facts the numbers of the replies are still compared with the code', () => {
  const task = { ...bill, facts: undefined };
  expect(debrief(told, { task })).toMatchObject({ decided: [], unasked: [] });
  expect(ignoredIn(told, { task })).toEqual(['30 undefined', '85 undefined']);
});
