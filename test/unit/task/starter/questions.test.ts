import { expect, test } from 'vitest';
import { answerByRules } from '../../../../src/core/dialogue/rules';
import { HalvingTree } from '../../../../src/core/evaluation/questionFigures';
import {
  ATTRIBUTES,
  FIGURES,
  PLACES,
  replies,
  WORDS,
  type Attribute,
} from '../../../../src/core/task/starter/questions/objects';
import {
  figureIn,
  figuresLeft,
  questionTasks,
  TOLD,
  type QuestionTask,
} from '../../../../src/core/task/starter/questions/world';
import { SPLITS, splitOf, teaches, worldOf } from '../../../../src/core/task/starter/splits';
import type { Difficulty } from '../../../../src/core/task/starter/world';
import { parseTask, taskToRow } from '../../../../src/core/task/row';

function firstTasks(count: number, world: Parameters<typeof questionTasks>[0]): QuestionTask[] {
  const drawn = questionTasks(world);
  return Array.from({ length: count }, () => drawn.next().value);
}

const DIFFICULTIES = Object.keys(TOLD) as Difficulty[];
const tasks = SPLITS.flatMap((split) =>
  DIFFICULTIES.flatMap((difficulty) => firstTasks(24, { split, seed: 1, difficulty })),
);

const inWords = (attributes: ReadonlySet<Attribute>): string => [...attributes].toSorted().join();

test('figures of one place differ in their attributes', () => {
  for (const place of PLACES) {
    const figures = FIGURES.filter((figure) => figure.place === place);
    expect(figures).toHaveLength(88);
    expect(new Set(figures.map(({ attributes }) => inWords(attributes))).size).toBe(88);
  }
});

test('no figure is in two splits, while every material and every animal is in the train split', () => {
  for (const { task, figure } of tasks) {
    expect(worldOf(task)).toBe('twenty-questions');
    expect(task.id.startsWith(`questions-${splitOf(figure.name)}-`)).toBe(true);
    expect(teaches(task)).toBe(splitOf(figure.name) === 'train');
  }
  const words = (names: readonly string[]): Set<string> => new Set(names.flatMap((name) => name.split(' ')));
  const names = FIGURES.map(({ name }) => name);
  expect(words(names.filter((name) => splitOf(name) === 'train'))).toEqual(words(names));
});

test('a request leaves the figures of its place that have what it tells, the right one among them', () => {
  for (const { task, figure, told } of tasks) {
    const left = figuresLeft(task)!;
    expect(left).toContain(figure);
    expect(left).toEqual(
      FIGURES.filter(
        ({ place, attributes }) =>
          place === figure.place &&
          told.every((attribute) => attributes.has(attribute) === figure.attributes.has(attribute)),
      ),
    );
    expect(left.length).toBeGreaterThan(1);
  }
});

test('asked about an attribute the rules simulator says whether it is true, and nothing else', () => {
  for (const [i, { task, figure }] of tasks.entries()) {
    for (const attribute of ATTRIBUTES) {
      const question = WORDS[attribute].questions[i % 2]!;
      const about = ATTRIBUTES[(ATTRIBUTES.indexOf(attribute) + i) % ATTRIBUTES.length]!;
      const before = about === attribute ? [] : replies(about, figure.attributes.has(about));
      const reply = answerByRules(task, question, { history: before.slice(0, 1), seed: i });
      expect(replies(attribute, figure.attributes.has(attribute)), question).toContain(reply);
    }
  }
});

test('asked best, a figure is found after five questions on average (standard)', () => {
  const standard = firstTasks(60, { split: 'test', seed: 5, difficulty: 'standard' });
  const needed = standard.map(({ task }) => {
    const left = figuresLeft(task)!;
    const tree = new HalvingTree(
      left.map(({ attributes }) => ATTRIBUTES.map((attribute) => attributes.has(attribute))),
    );
    return tree.fewest(tree.all);
  });
  expect(needed.reduce((sum, value) => sum + value, 0) / needed.length).toBeGreaterThan(4.8);
  expect(Math.max(...needed)).toBeLessThan(6.5);
});

test('a task names its figure and is read back from a pack as it was', () => {
  for (const { task, figure } of tasks) {
    expect(figureIn(task.reference)).toBe(figure);
    expect(parseTask(taskToRow(task))).toEqual(task);
  }
});

test('the same seed draws the same tasks, all different, and one sentence says when there are no more', () => {
  const world = { split: 'development', seed: 9, difficulty: 'hard' } as const;
  expect(firstTasks(20, world)).toEqual(firstTasks(20, world));
  const drawn = questionTasks(world);
  const ids = new Set(Array.from({ length: 17_616 }, () => drawn.next().value.task.id));
  expect(ids.size).toBe(17_616);
  expect(() => drawn.next()).toThrow(
    'The world of twenty questions has only 17616 tasks of the split development and difficulty hard. Ask for fewer, or for another difficulty.',
  );
});
