import { expect, it } from 'vitest';
import { judgedAsking } from '../../../src/core/evaluation/judgedAsking';
import { judgedInWords } from '../../../src/core/evaluation/words';
import type { Model } from '../../../src/core/model/model';
import type { Trajectory } from '../../../src/core/trajectory/trajectory';
import { answers, asks, starterTask } from '../../fixtures/dialogue';

const { facts, ...task } = await starterTask();
const specification = {
  requirements: ['Heavy is over 20 kilograms.', 'It costs 4.50 euros more.', 'An unknown zone gives -1.'],
};

const timing = { totalMs: 1, attempts: 1 };

/** Reads the message that is to be judged, and says what the text in it asks for. */
const read: string[] = [];
const judge: Model = {
  name: 'openai:judge',
  generate: ([request]) => {
    read.push(request!.content);
    const [, message = ''] = /<message>\n(.*)\n<\/message>/s.exec(request!.content)!;
    return Promise.resolve({
      ...{ text: message.replace('?', '').split(' and ').join('\n'), finishReason: 'stop' },
      timing,
    });
  },
};

/** @param questions each is answered by itself, such as `1 and 0?` */
const played = (questions: readonly string[], of: object): Trajectory =>
  ({
    ...{ task: { ...task, ...of }, state: 'answered' },
    turns: [
      ...questions.map((text) => ({ agent: { text: asks(text) }, reply: { text: 'Yes.' } })),
      { agent: { text: answers('x = 1') } },
    ],
  }) as unknown as Trajectory;

it('counts questions by the requirements that a judge finds them about, and leaves facts to their matcher', async () => {
  const check = { by: 'openai:checker', passed: 10, tests: 10 };
  const shown: number[][] = [];
  const judged = await judgedAsking(
    [
      played(['1 and 0?', '1?', '2?'], { specification: { ...specification, check } }),
      played([], { id: 'silent', specification }),
      played(['What is heavy?'], { id: 'unclear', specification }),
      played(['4?'], { id: 'beyond', specification }),
      played(['1?'], { id: 'facts', facts, specification }),
    ],
    judge,
    { concurrency: 2, onJudged: (...progress) => shown.push(progress) },
  );
  expect(shown).toEqual([1, 2, 3, 4].map((done) => [done, 4]));
  // Asked about 2 of 3 and of 0 of 3 requirements; a repeated and a needless question.
  expect(judged).toEqual({
    ...{ judge: 'openai:judge', dialogues: 2, doubtful: 1, unread: 2 },
    ...{ f1: { value: 4 / 10 }, precision: 2 / 4, recall: 2 / 6 },
  });
  expect(judgedInWords('a', judged)[0]).toMatch(/^a: Ask-F1 0\.400 .*judged by openai:judge/);
  for (const line of task.reference.split('\n').slice(1))
    expect(read.filter((text) => text.includes(line.trim()))).toEqual([]);
});

it.each([
  ['The assistant asks:\nRounding of the bill: which way?\n\nThe answer is 0.', 'stop', 'no requirement'],
  ['The number of requirement that answers the question is 0.', 'stop', 'no requirement'],
  ['The requirement is not 1.', 'stop', 'nothing'],
  ['- Requirement 1.', 'stop', 'a requirement'],
  ['Is it 2 hours?\n1', 'stop', 'nothing'],
  ['0\n'.repeat(500), 'length', 'nothing'],
])('reads %j (%s) of a small judge as %s', async (text, finishReason, read) => {
  const small = { ...judge, generate: () => Promise.resolve({ text, finishReason, timing }) } as Model;
  const judged = await judgedAsking([played(['1?'], { specification })], small, { concurrency: 1 });
  const found = { 'no requirement': [0, 0], 'a requirement': [0, 1], nothing: [1, undefined] }[read];
  expect([judged.unread, judged.precision]).toEqual(found);
  if (read === 'nothing') expect(judgedInWords('a', judged)).toEqual([expect.stringContaining('no Ask-F1')]);
});
