import { expect, test } from 'vitest';
import { checkPage, checkInWords } from '../../../../src/core/page/checks';
import {
  pagePieces,
  habitsOf,
  PAGE_DECISIONS,
  PAGE_DIFFICULTIES,
  PAGE_OPTIONS,
  PAGE_TRADES,
  pageFor,
  pageTasks,
  type PageDecision,
  type PageWorldTask,
  tradeOf,
} from '../../../../src/core/task/starter/pages/world';
import type { Difficulty } from '../../../../src/core/task/starter/world';
import { SPLITS } from '../../../../src/core/task/starter/splits';
import { answerByDifferences } from '../../../../src/core/dialogue/pageRules';
import { attentivePage, tradeIn } from '../../../fixtures/page-world';
import { reader, sheet } from '../../../fixtures/pages';
import { parseTask, taskToRow } from '../../../../src/core/task/row';

function firstTasks(count: number, world: Parameters<typeof pageTasks>[0]): PageWorldTask[] {
  const drawn = pageTasks(world);
  return Array.from({ length: count }, () => drawn.next().value);
}

const tasks = SPLITS.flatMap((split) =>
  (Object.keys(PAGE_DIFFICULTIES) as Difficulty[]).flatMap((difficulty) =>
    firstTasks(150, { split, seed: 1, difficulty }),
  ),
);

const failing = ({ task }: Pick<PageWorldTask, 'task'>, html: string): string[] =>
  checkPage(html, task.checks!, sheet)
    .filter(({ passed }) => !passed)
    .map(checkInWords);

test('the wanted page passes all of its checks, and a page by the habits fails those of the departures', () => {
  for (const task of tasks) {
    expect(failing(task, task.task.reference)).toEqual([]);
    const results = checkPage(pageFor(task, habitsOf(task)), task.task.checks!, sheet);
    const failed = PAGE_DECISIONS.filter((_, i) => !results[i]!.passed);
    expect(failed).toEqual(task.departures.map(({ decision }) => decision));
    const { fewest } = PAGE_DIFFICULTIES.gentle;
    expect(failed.length).toBeGreaterThanOrEqual(fewest);
  }
});

test('the check of a decision sees each other value, and no other check does', () => {
  for (const task of tasks.filter((_, i) => i % 9 === 0)) {
    for (const [i, decision] of PAGE_DECISIONS.entries()) {
      for (const value of Object.keys(PAGE_OPTIONS[decision])) {
        if (value === task.values[decision]) continue;
        const html = pageFor(task, { ...task.values, [decision]: value });
        const results = checkPage(html, task.task.checks!, sheet);
        expect(results.flatMap(({ passed }, at) => (passed ? [] : [at]))).toEqual([i]);
      }
    }
  }
});

test('a sentence asks for one value of one decision, in every task', () => {
  const meant = new Map<string, string>();
  for (const task of tasks) {
    const results = checkPage(pageFor(task, habitsOf(task)), task.task.checks!, sheet);
    for (const [i, result] of results.entries()) {
      const decision: PageDecision = PAGE_DECISIONS[i]!;
      const meaning = `${decision} ${task.values[decision]}`;
      const sentence = checkInWords(result);
      expect(meant.get(sentence) ?? meaning).toBe(meaning);
      meant.set(sentence, meaning);
    }
  }
  const values = PAGE_DECISIONS.flatMap((decision) => Object.keys(PAGE_OPTIONS[decision]));
  expect(meant.size).toBe(values.length);
});

test('no task and no structure is in two splits, and the same seed draws the same tasks', () => {
  const splitsOf = new Map<string, Set<string>>();
  for (const split of SPLITS) {
    for (const { structure, task } of firstTasks(2000, { split, seed: 3, difficulty: 'standard' })) {
      expect(task.id.startsWith(`pages-${split}-`)).toBe(true);
      for (const key of [structure, task.id]) splitsOf.set(key, (splitsOf.get(key) ?? new Set()).add(split));
    }
  }
  expect([...splitsOf.values()].filter(({ size }) => size > 1)).toEqual([]);
  const world = { split: 'test', seed: 9, difficulty: 'hard' } as const;
  expect(firstTasks(50, world)).toEqual(firstTasks(50, world));
});

test('the habits of two trades differ in at least four decisions', () => {
  for (const [i, { habits: a }] of PAGE_TRADES.entries()) {
    for (const { habits: b } of PAGE_TRADES.slice(i + 1)) {
      expect(PAGE_DECISIONS.filter((decision) => a[decision] !== b[decision]).length).toBeGreaterThanOrEqual(
        4,
      );
    }
  }
});

test('a request has one more sentence for each departure that it hints at', () => {
  for (const { task, departures } of tasks) {
    expect(task.description.split('. ').length - 2).toBe(departures.filter(({ cued }) => cued).length);
  }
});

test('pages are built of few pieces, and read back from a pack as they were', () => {
  const pieces = new Set(tasks.flatMap(({ trade, values }) => pagePieces(tradeOf(trade), values)));
  expect(pieces.size).toBeLessThanOrEqual(160);
  for (const { trade, values, task } of tasks.slice(0, 100)) {
    expect(pagePieces(tradeOf(trade), values).length).toBeLessThanOrEqual(32);
    expect(task.reference.length).toBeLessThan(1300);
    expect(parseTask(taskToRow(task))).toEqual(task);
  }
});

/** Pages that an agent shows until it is told that nothing is left. */
async function draftsOf({ task }: PageWorldTask, seed: number, habits = tradeIn(task.description).habits) {
  const replies: string[] = [];
  for (let drafts = 1; ; drafts += 1) {
    const html = attentivePage(tradeIn(task.description), replies, habits);
    const { reference: wanted, checks } = task;
    const message = `OUTPUT:\n${html}`;
    const position = { wanted, checks, message, history: replies, seed, replyLimit: 400 };
    const { text } = await answerByDifferences(position, reader);
    if (failing({ task }, html).length === 0) return { drafts, text, replies };
    replies.push(text);
  }
}

test('an agent that applies all that it is told has the wanted page in four drafts, and in seven from any other', async () => {
  const standard = firstTasks(200, { split: 'test', seed: 5, difficulty: 'standard' });
  for (const [i, task] of standard.entries()) {
    const own = await draftsOf(task, i);
    expect(own.drafts).toBeLessThanOrEqual(4);
    expect(own.text).toMatch(/[Nn]othing (?:is )?left to change/);
    const other = await draftsOf(task, i, PAGE_TRADES[i % PAGE_TRADES.length]!.habits);
    expect(other.drafts).toBeLessThanOrEqual(7);
    // Nothing is told twice to an agent that applies it.
    const sentences = own.replies.flatMap((reply) => reply.split(/(?<=\.) /));
    expect(new Set(sentences).size).toBe(sentences.length);
  }
});

test('a slip in what was told before is told again when nothing new is left', async () => {
  const [task] = firstTasks(1, { split: 'train', seed: 0, difficulty: 'standard' });
  const { reference: wanted, checks } = task!.task;
  const position = { wanted, checks, seed: 1, replyLimit: 400 };
  const message = `OUTPUT:\n${pageFor(task!, { ...task!.values, side: task!.values.side === 'left' ? 'right' : 'left' })}`;
  const first = await answerByDifferences({ ...position, message, history: [] }, reader);
  expect(first.text).toBe(`The picture should stand on the ${task!.values.side}.`);
  const second = await answerByDifferences({ ...position, message, history: [first.text] }, reader);
  expect(second.text).toMatch(/^(?:As I said|Still|This is still to be done): The picture should stand/);
});
