import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { answerWith } from '../../../experiments/starter/demonstrator';
import { askWhatTells } from '../../../experiments/starter/questions/demonstrator';
import { HONEST_ABOUT_QUESTIONS } from '../../../experiments/starter/questions/documents';
import { answerByRules } from '../../../src/core/dialogue/rules';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { Chat } from '../../../src/core/model/local/chat';
import { Random } from '../../../src/core/task/starter/draw';
import { ATTRIBUTES, FIGURES, WORDS } from '../../../src/core/task/starter/questions/objects';
import { answerCode, questionTasks, type QuestionTask } from '../../../src/core/task/starter/questions/world';

const folder = path.resolve('media/starter-questions');
const chat = new Chat(folder);
const prompts = await Prompts.load('trainer/tandem_trainer/data/prompts');
const opening = (description: string): string =>
  prompts.render('agent.md', { description, maxTurns: 7, replyLimit: 400 });

test('of the opening the question model reads only the request, one token a sentence', () => {
  const [task] = tasks(1);
  const read = chat.encode([{ role: 'user', content: opening(task!.task.description) }]);
  expect(read).toEqual(chat.encode([{ role: 'user', content: task!.task.description }]));
  expect(read.length).toBeLessThanOrEqual(10);
});

test('of what is put before the critic it reads only the figure and the request', () => {
  const [task] = tasks(1);
  const { description, hiddenInformation } = task!.task;
  const critic = readFileSync('trainer/tandem_trainer/data/prompts/critic.md', 'utf8')
    .replace(/^<!--[^]*?-->/, '')
    .replace('{{hiddenInformation}}', () => hiddenInformation);
  const read = chat.encode([{ role: 'user', content: `${critic.trim()}\n\n${opening(description)}` }]);
  expect(read).toEqual(
    chat.encode([{ role: 'user', content: `<hidden>${hiddenInformation}</hidden>${description}` }]),
  );
});

test('a question is one token, an answer four, and both are written back as they were', () => {
  for (const text of ATTRIBUTES.flatMap((attribute) => WORDS[attribute].questions)) {
    expect(tokensOf(text), text).toHaveLength(1);
    expect(chat.decode(tokensOf(text))).toBe(text);
  }
  for (const text of FIGURES.map(({ name }) => answerWith(answerCode(name)))) {
    expect(tokensOf(text), text).toHaveLength(4);
    expect(chat.decode(tokensOf(text))).toBe(text);
  }
});

test('no word that is said in its world falls into several tokens', () => {
  for (const text of new Set(tasks(60).flatMap(saidAbout))) {
    expect(tokensOf(text).length, text).toBeLessThanOrEqual(text.match(PIECE)!.length);
  }
});

test('a dialogue of six questions has at most 60 tokens', () => {
  const random = new Random(1);
  const lengths = tasks(60).map((task) => chat.encode(askWhatTells(task, random).messages).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(60);
});

test('the question model takes at most 4 MB in all its forms', () => {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (name) => statSync(path.join(folder, name)).size,
  );
  expect(sizes.reduce((a, b) => a + b)).toBeLessThan(4_000_000);
});

/** Between the role's token in front and the tokens that end the message and begin the next. */
const tokensOf = (text: string): number[] => chat.encode([{ role: 'assistant', content: text }]).slice(1, -2);

/** Words, numbers, signs and spaces. */
const PIECE = /\n *| ?[A-Za-z_]+(?:'[a-z]+)?|[0-9]+(?:\.[0-9]+)?| ?[^ \nA-Za-z0-9_]+| +/g;

function tasks(count: number): QuestionTask[] {
  const generator = questionTasks({ split: 'test', seed: 7, difficulty: 'standard' });
  return Array.from({ length: count }, () => generator.next().value);
}

/** Returns texts about a task: the request, the questions, and what the rules say to them, also when asked again. */
function saidAbout({ task }: QuestionTask, seed: number): string[] {
  const asked = ATTRIBUTES.map((attribute) => WORDS[attribute].questions[seed % 2]!);
  const replies = asked.flatMap((question) => {
    const first = answerByRules(task, question, { history: [], seed });
    return [first, answerByRules(task, question, { history: [first], seed })];
  });
  return [task.description, HONEST_ABOUT_QUESTIONS, ...asked, ...replies];
}
