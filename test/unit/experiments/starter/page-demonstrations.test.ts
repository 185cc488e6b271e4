import { expect, test } from 'vitest';
import { draftOf } from '../../../../src/core/dialogue/drafts';
import { answerByDifferences } from '../../../../src/core/dialogue/pageRules';
import { Random } from '../../../../src/core/task/starter/draw';
import { pageFor, pageTasks, type PageWorldTask } from '../../../../src/core/task/starter/pages/world';
import type { Document } from '../../../../experiments/starter/document';
import {
  applyEverything,
  demonstratePage,
  MAX_DRAFTS,
  type PagePlay,
} from '../../../../experiments/starter/pages/demonstrator';
import { pageDocuments } from '../../../../experiments/starter/pages/documents';
import { reader } from '../../../fixtures/pages';

test('the demonstrator hears what the rules say', async () => {
  for (const play of plays(15, demonstratePage)) {
    const { reference: wanted, checks } = play.task.task;
    const said = play.messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    for (const [i, reply] of said.slice(1).entries()) {
      const message = play.messages[2 * i + 1]!.content;
      const position = { wanted, checks, message, history: said.slice(1, i + 1), seed: play.seed };
      const { text } = await answerByDifferences({ ...position, replyLimit: 1000 }, reader);
      expect(reply).toBe(text);
    }
  }
});

test('who applies everything changes what was told, and nothing else', () => {
  for (const { task, drafts, messages } of plays(100, applyEverything)) {
    expect(drafts.length).toBeLessThanOrEqual(MAX_DRAFTS);
    const last = messages.findLast(({ role }) => role === 'assistant')!.content;
    expect(draftOf(last)).toBe(pageFor(task, drafts.at(-1)!));
    const wrong = drafts.map((values) => differences(values, task.values));
    for (const [i, number] of wrong.slice(1).entries()) expect(number).toBe(Math.max(0, wrong[i]! - 2));
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

function plays(count: number, play: (task: PageWorldTask, random: Random) => PagePlay): PagePlay[] {
  const tasks = pageTasks({ split: 'development', seed: 3, difficulty: 'standard' });
  const random = new Random(3);
  return Array.from({ length: count }, () => play(tasks.next().value, random));
}

const differences = (a: PageWorldTask['values'], b: PageWorldTask['values']): number =>
  Object.entries(a).filter(([decision, value]) => value !== b[decision as keyof typeof b]).length;

function drawn(count: number): Document[] {
  const documents = pageDocuments(5);
  return Array.from({ length: count }, () => documents.next().value);
}
