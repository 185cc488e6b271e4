import { expect, test } from 'vitest';
import { parseAgentMessage } from '../../../../src/core/dialogue/protocol';
import { Random } from '../../../../src/core/task/starter/draw';
import { starterTasks, type StarterTask } from '../../../../src/core/task/starter/world';
import { askEverything, MAX_TURNS, type Play } from '../../../../experiments/starter/demonstrator';
import type { Document } from '../../../../experiments/starter/document';
import { functionDocuments } from '../../../../experiments/starter/documents';

test('who asks everything has the right program within the turns there are', () => {
  for (const play of plays(100, askEverything)) {
    expect(answerOf(play)).toBe(`\`\`\`python\n${play.task.task.reference}\n\`\`\``);
    expect(play.asked.length + 1).toBeLessThanOrEqual(MAX_TURNS);
  }
});

test('equal seeds write equal documents, of every sort', () => {
  const documents = drawn(300);
  expect(drawn(300)).toEqual(documents);
  const sorts = documents.map(({ hidden, learn, foreign }) =>
    [hidden !== undefined, learn, foreign].join(' '),
  );
  expect(new Set(sorts)).toEqual(
    new Set(['false turns ', 'true turns ', 'false answer ', 'true answer ', 'false turns true']),
  );
});

function plays(count: number, play: (task: StarterTask, random: Random) => Play): Play[] {
  const tasks = starterTasks({ split: 'development', seed: 3, difficulty: 'standard' });
  const random = new Random(3);
  return Array.from({ length: count }, () => play(tasks.next().value, random));
}

const answerOf = (play: Play): string => parseAgentMessage(play.messages.at(-1)!.content).answer ?? '';

function drawn(count: number): Document[] {
  const documents = functionDocuments(5);
  return Array.from({ length: count }, () => documents.next().value);
}
