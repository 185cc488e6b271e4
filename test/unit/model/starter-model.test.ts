import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Prompts } from '../../../src/core/dialogue/prompts';
import { answerByRules } from '../../../src/core/dialogue/rules';
import { Chat } from '../../../src/core/model/local/chat';
import {
  codeFor,
  IDLE_TOPICS,
  idleQuestions,
  KINDS,
  questionsAbout,
  starterTasks,
  VAGUE_QUESTIONS,
  type StarterTask,
} from '../../../src/core/task/starter/world';
import { answerWith } from '../../../experiments/starter/demonstrator';
import { HONEST } from '../../../experiments/starter/foreign';

const folder = path.resolve('media/starter');
const chat = new Chat(folder);
const prompts = await Prompts.load('trainer/tandem_trainer/data/prompts');
const opening = (description: string): string =>
  prompts.render('agent.md', { description, maxTurns: 6, replyLimit: 400 });

test('of the opening the starter model reads only the request', () => {
  const [task] = tasks(1);
  const read = chat.encode([{ role: 'user', content: opening(task!.task.description) }]);
  expect(read).toEqual(chat.encode([{ role: 'user', content: task!.task.description }]));
  expect(read.length).toBeLessThan(90);
});

test('of what is put before the critic it reads only the hidden code and the request', () => {
  const [task] = tasks(1);
  const { description, hiddenInformation } = task!.task;
  const critic = readFileSync('trainer/tandem_trainer/data/prompts/critic.md', 'utf8')
    .replace(/^<!--[^]*?-->/, '')
    .replace('{{hiddenInformation}}', () => hiddenInformation);
  const read = chat.encode([{ role: 'user', content: `${critic.trim()}\n\n${opening(description)}` }]);
  const short = `<hidden>${hiddenInformation}</hidden>${description}`;
  expect(read).toEqual(chat.encode([{ role: 'user', content: short }]));
  const codeAlone = chat.encode([{ role: 'assistant', content: hiddenInformation }]).length;
  expect(read.length).toBeLessThan(90 + codeAlone);
});

test('no word that is said in the starter world falls into several tokens', () => {
  for (const text of new Set(tasks(200).flatMap(saidAbout))) {
    expect(tokensOf(text), text).toBeLessThanOrEqual(text.match(PIECE)!.length);
  }
});

test('the starter model takes at most 20 MB in all its forms', () => {
  const sizes = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(
    (name) => statSync(path.join(folder, name)).size,
  );
  expect(sizes.reduce((a, b) => a + b)).toBeLessThan(20 * 2 ** 20);
});

const tokensOf = (text: string): number => chat.encode([{ role: 'assistant', content: text }]).length - 3;

/** Words, numbers, signs and spaces. */
const PIECE = /\n *| ?[A-Za-z_]+(?:'[a-z]+)?|[0-9]+(?:\.[0-9]+)?| ?[^ \nA-Za-z0-9_]+| +/g;

function tasks(count: number): StarterTask[] {
  const generator = starterTasks({ split: 'test', seed: 7, difficulty: 'standard' });
  return Array.from({ length: count }, () => generator.next().value);
}

/** Returns all texts about a task: the request, the program, all questions, and the collaborator's facts. */
function saidAbout(task: StarterTask, index: number): string[] {
  const { description, reference, facts } = task.task;
  const questions = [
    ...KINDS.flatMap((kind) => questionsAbout(task, kind)),
    ...IDLE_TOPICS.flatMap((topic) => idleQuestions(task, topic)),
    ...VAGUE_QUESTIONS,
  ];
  const answers = (facts ?? []).flatMap((fact) => fact.answers);
  const said = [description, reference, answerWith(codeFor(task, {})), HONEST, ...questions, ...answers];
  return index < 20 ? [...said, ...questions.flatMap((question) => repliesTo(question, task, index))] : said;
}

/** Returns the rules' replies in all wordings, including those for repeated questions. */
function repliesTo(question: string, { task }: StarterTask, seed: number): string[] {
  const told = (task.facts ?? []).flatMap(({ answers }) => answers);
  return [[], told].map((history) => answerByRules(task, question, { history, seed }));
}
