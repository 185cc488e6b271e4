import { expect, test } from 'vitest';
import { answerByRules } from '../../../../src/core/dialogue/rules';
import { OPTIONS, type Value } from '../../../../src/core/task/starter/program';
import {
  codeFor,
  IDLE_TOPICS,
  idleQuestions,
  KINDS,
  questionsAbout,
  VAGUE_QUESTIONS,
  type DecisionKind,
  type StarterTask,
} from '../../../../src/core/task/starter/world';
import { firstTasks, manyTasks } from '../../../fixtures/starter-world';

const tasks = manyTasks();

const reply = (
  { task }: StarterTask,
  question: string,
  seed: number,
  history: readonly string[] = [],
): string => answerByRules(task, question, { history, seed });

/** Chooses one of several wordings, different for successive tasks. */
const wording = (texts: readonly string[], i: number): string => texts[i % texts.length]!;

/** Returns the kinds of decisions that a reply reveals. */
const told = ({ task, decisions }: StarterTask, text: string): DecisionKind[] =>
  decisions
    .filter((_, d) => task.facts![d]!.answers.some((answer) => text.includes(answer)))
    .map(({ kind }) => kind);

/** Returns the simulator's replies to a question over 100 seeds. */
const repliesTo = (question: string): Set<string> =>
  new Set(Array.from({ length: 100 }, (_, seed) => reply(tasks[0]!, question, seed)));
const noPreference = repliesTo('Do you like the color blue?');
const tooGeneral = repliesTo('Please tell me all the rules.');

test('asked about a decision, the rules simulator tells it and nothing else; of one that the task lacks it says so', () => {
  for (const [i, task] of tasks.entries()) {
    for (const kind of KINDS) {
      const question = wording(questionsAbout(task, kind), i);
      const text = reply(task, question, i);
      const known = task.decisions.some((decision) => decision.kind === kind);
      const seen = `${task.task.id} ${question} ${text}`;
      expect(told(task, text), seen).toEqual(known ? [kind] : []);
      if (!known) expect(noPreference, seen).toContain(text);
    }
  }
});

test('asked about something idle it has no preference, asked in general it wants to know what about, whatever was said before', () => {
  for (const [i, task] of tasks.entries()) {
    const history = [wording(task.task.facts![0]!.answers, i)];
    const question = wording(
      IDLE_TOPICS.flatMap((topic) => idleQuestions(task, topic)),
      i,
    );
    expect(noPreference, question).toContain(reply(task, question, i, history));
    const vague = wording(VAGUE_QUESTIONS, i);
    expect(tooGeneral, vague).toContain(reply(task, vague, i, history));
  }
});

test('who asks about everything and writes what he hears writes the reference', () => {
  for (const [i, task] of tasks.entries()) {
    const history: string[] = [];
    const heard = new Map<DecisionKind, Value>();
    for (const kind of KINDS) {
      const text = reply(task, wording(questionsAbout(task, kind), i), i, history);
      const value = understood(kind, text, task);
      if (value !== undefined) heard.set(kind, value);
      history.push(text);
    }
    expect(codeFor(task, Object.fromEntries(heard))).toBe(task.task.reference);
  }
});

test('the vocabulary is small and closed: what is held out says nothing that was not said in training', () => {
  // This needs more tasks than above, because a rare word occurs once in hundreds of tasks.
  const training = (['gentle', 'standard', 'hard'] as const).flatMap((difficulty) =>
    firstTasks(223, { split: 'train', seed: 1, difficulty }),
  );
  const inTraining = new Set(training.flatMap(wordsOf));
  const all = new Set([...inTraining, ...tasks.flatMap(wordsOf)]);
  expect([...all].filter((word) => !inTraining.has(word))).toEqual([]);
  const replies = [...noPreference, ...tooGeneral].flatMap(split);
  expect(new Set([...all, ...replies]).size).toBeLessThanOrEqual(600);
});

/** Returns the value of a decision that a reply gives: the only number possible for this kind, or a value in words. */
function understood(kind: DecisionKind, text: string, { task }: StarterTask): Value | undefined {
  if (noPreference.has(text)) return undefined;
  if (kind === 'strictness') return /too|included|from there on/.test(text) ? '>=' : '>';
  if (kind === 'rounding') return /up|nearest/i.exec(text)?.[0].toLowerCase() ?? 'down';
  if (kind !== 'order') return OPTIONS[kind].find((value) => text.split(/\W+/).includes(String(value)));
  const place = (topic: string): number => {
    const name = task.facts!.find((fact) => fact.topic === topic)!.keywords[0]!;
    return text.indexOf(name);
  };
  return place('discount') < place('fee') === !text.includes('after') ? 'discount first' : 'fee first';
}

const split = (text: string): string[] => text.toLowerCase().match(/[a-z_']+|\d+(?:\.\d+)?/g) ?? [];

/** Returns all words of a task without its tests, which are hidden. */
function wordsOf(task: StarterTask): string[] {
  const { description, reference, facts } = task.task;
  return [
    description,
    reference,
    ...facts!.flatMap(({ answers }) => answers),
    ...KINDS.flatMap((kind) => questionsAbout(task, kind)),
    ...IDLE_TOPICS.flatMap((topic) => idleQuestions(task, topic)),
    ...VAGUE_QUESTIONS,
  ].flatMap(split);
}
