import { expect, test } from 'vitest';
import { agentFigures } from '../../../src/core/evaluation/figures';
import { questionsPlayed } from '../../../src/core/evaluation/questionFigures';
import { replies, WORDS, type Attribute } from '../../../src/core/task/starter/questions/objects';
import { figuresLeft, questionTasks } from '../../../src/core/task/starter/questions/world';
import type { Turn } from '../../../src/core/trajectory/trajectory';
import { starterTask } from '../../fixtures/dialogue';

const { task, figure, told } = questionTasks({ split: 'train', seed: 1, difficulty: 'hard' }).next().value;

const said = (turn: number, text: string, reply?: string): Turn => {
  const head = { version: 1, at: '2026-01-01T00:00:00Z', episode: 'e', turn };
  return {
    agent: { ...head, event: 'agent-turn', text, finishReason: 'stop', model: 'script' },
    ...(reply !== undefined && {
      reply: { ...head, event: 'reply', text: reply, author: 'simulator', by: 'rules' },
    }),
  };
};

const asking = (turn: number, attribute: Attribute): Turn =>
  said(turn, WORDS[attribute].questions[0], replies(attribute, figure.attributes.has(attribute))[0]);

const answer = said(9, 'I WANT TO ANSWER:\n```python\ndef answer():\n    return "wooden horse"\n```');

test('a question tells its bits, and one asked again tells nothing and loses a question', () => {
  const played = questionsPlayed({ task, turns: [asking(1, 'burns'), asking(2, 'burns'), answer] })!;
  const left = figuresLeft(task)!;
  const same = left.filter(({ attributes }) => attributes.has('burns') === figure.attributes.has('burns'));
  const share = same.length / left.length;
  expect(played.questions[0]!.bits).toBeCloseTo(
    -share * Math.log2(share) - (1 - share) * Math.log2(1 - share),
  );
  expect(played.questions[0]!.regret).toBeLessThan(0.2);
  expect(played.questions[1]).toEqual({ bits: 0, regret: 1 });
  expect(played.left).toBe(same.length);
});

test('what the request tells, and what is no question about the figure, loses a question each', () => {
  const turns = [asking(1, told[0]!), said(2, 'Do you like the color blue?', 'That does not matter to me.')];
  const { questions, left } = questionsPlayed({ task, turns: [...turns, answer] })!;
  expect(questions).toEqual([
    { bits: 0, regret: 1 },
    { bits: 0, regret: 1 },
  ]);
  expect(left).toBe(figuresLeft(task)!.length);
});

test('tasks of other worlds have no tree', async () => {
  expect(questionsPlayed({ task: await starterTask(), turns: [answer] })).toBeUndefined();
  expect(agentFigures('starter', [], 'fixed').questions).toBeUndefined();
});
