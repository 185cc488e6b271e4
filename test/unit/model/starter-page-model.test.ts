import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { replyTelling } from '../../../src/core/dialogue/pageRules';
import { Chat } from '../../../src/core/model/local/chat';
import {
  PAGE_DECISIONS,
  pageFor,
  pageTasks,
  type PageWorldTask,
} from '../../../src/core/task/starter/pages/world';
import { applyEverything, messageWith, wishOf } from '../../../experiments/starter/pages/demonstrator';
import { HONEST_ABOUT_PAGES } from '../../../experiments/starter/pages/documents';
import { Random } from '../../../src/core/task/starter/draw';

const folder = path.resolve('media/starter-pages');
const chat = new Chat(folder);
const prompts = await Prompts.load('trainer/tandem_trainer/data/prompts');
const opening = (description: string): string =>
  prompts.render('agent-page.md', { description, maxTurns: 4, replyLimit: 1000 });

test('of the opening the page model reads only the request', () => {
  const [task] = tasks(1);
  const read = chat.encode([{ role: 'user', content: opening(task!.task.description) }]);
  expect(read).toEqual(chat.encode([{ role: 'user', content: task!.task.description }]));
  expect(read.length).toBeLessThan(90);
});

test('of what is put before the critic it reads only the wanted page and the request', () => {
  const [task] = tasks(1);
  const { description, reference } = task!.task;
  const critic = readFileSync('trainer/tandem_trainer/data/prompts/critic.md', 'utf8')
    .replace(/^<!--[^]*?-->/, '')
    .replace('{{hiddenInformation}}', () => reference);
  const read = chat.encode([{ role: 'user', content: `${critic.trim()}\n\n${opening(description)}` }]);
  expect(read).toEqual(
    chat.encode([{ role: 'user', content: `<hidden>${reference}</hidden>${description}` }]),
  );
});

test('a page has hardly more tokens than values, and is written back as it was', () => {
  for (const { task } of tasks(200)) {
    for (const text of [messageWith(task.reference, false), messageWith(task.reference, true)]) {
      const ids = tokensOf(text);
      expect(ids.length).toBeLessThanOrEqual(PAGE_DECISIONS.length + 6);
      expect(chat.decode(ids)).toBe(text);
    }
  }
});

test('no word that is said in the world of pages falls into several tokens', () => {
  for (const text of new Set(tasks(200).flatMap(saidAbout))) {
    expect(tokensOf(text).length, text).toBeLessThanOrEqual(text.match(PIECE)!.length);
  }
});

test('a dialogue of four drafts has at most 300 tokens', () => {
  const random = new Random(1);
  const lengths = tasks(200).map((task) => chat.encode(applyEverything(task, random).messages).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(300);
});

test('the page model takes at most 4 MB in all its forms', () => {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (name) => statSync(path.join(folder, name)).size,
  );
  expect(sizes.reduce((a, b) => a + b)).toBeLessThan(4_000_000);
});

/** Between the role's token in front and the tokens that end the message and begin the next. */
const tokensOf = (text: string): number[] => chat.encode([{ role: 'assistant', content: text }]).slice(1, -2);

/** Words, numbers, signs and spaces. */
const PIECE = /\n *| ?[A-Za-z_]+(?:'[a-z]+)?|[0-9]+(?:\.[0-9]+)?| ?[^ \nA-Za-z0-9_]+| +/g;

function tasks(count: number): PageWorldTask[] {
  const generator = pageTasks({ split: 'test', seed: 7, difficulty: 'standard' });
  return Array.from({ length: count }, () => generator.next().value);
}

/** Returns all texts about a task: the request, the pages, and what the rules say, in all wordings. */
function saidAbout(task: PageWorldTask, seed: number): string[] {
  const wishes = PAGE_DECISIONS.map((decision) => wishOf(task, decision));
  const position = { seed, replyLimit: 1000 };
  const replies = [[], wishes].flatMap((history) =>
    [[], wishes].map((told) => replyTelling(told, { ...position, history })),
  );
  return [task.task.description, pageFor(task, task.values), HONEST_ABOUT_PAGES, ...wishes, ...replies];
}
