import { describe, expect, it } from 'vitest';
import { agentFigures, questionCounts, taskFigures } from '../../../src/core/evaluation/figures';
import { habitChanges, worseHabits } from '../../../src/core/evaluation/habits';
import { pairedTasks } from '../../../src/core/evaluation/paired';
import type { Task } from '../../../src/core/task/task';
import type { Trajectory, Turn } from '../../../src/core/trajectory/trajectory';
import { answers, starterTask } from '../../fixtures/dialogue';

const said = (turn: number, text: string, reply?: string): Turn => {
  const head = { version: 1, at: '2026-01-01T00:00:00Z', episode: 'e', turn };
  return {
    agent: { ...head, event: 'agent-turn', text, finishReason: 'stop', model: 'script' },
    ...(reply !== undefined && {
      reply: { ...head, event: 'reply', text: reply, author: 'simulator', by: 'rules' },
    }),
  };
};

const answered = said(9, answers('def parcel_price(weight_kg, zone):\n    return 5'));

// The task has these facts: the weight limit, exactly at the limit, the surcharge, an unknown zone.
const task = await starterTask();

const counts = (...turns: Turn[]): unknown => questionCounts({ task, turns: [...turns, answered] });

describe('the questions of a dialogue', () => {
  it('miss every decision when the agent answers at once, and none of them is useless', () => {
    expect(counts()).toMatchObject({ decisions: 4, asked: 0, missed: 4, useless: 0, questions: 0 });
  });

  it('find the decisions that they are about', () => {
    expect(
      counts(
        said(1, 'From which weight on is a parcel heavy?', 'Heavy starts at 20 kilograms for us.'),
        said(2, 'And exactly at the limit?', 'Right on the limit costs nothing extra.'),
        said(3, 'How much is the surcharge, and what about an unknown zone?', 'Add 4.50 euros once.'),
      ),
    ).toMatchObject({ decisions: 4, asked: 4, missed: 0, useless: 0, questions: 4 });
  });

  it('are useless when they are about nothing the task decides, or were asked before', () => {
    expect(
      counts(
        said(1, 'Would you like type hints?', 'No preference there, you decide.'),
        said(2, 'How much is the surcharge?', 'Add 4.50 euros once.'),
        said(3, 'How much is the surcharge?', 'As I said: Add 4.50 euros once.'),
      ),
    ).toMatchObject({ asked: 1, missed: 3, needless: 1, repeated: 1, useless: 2, questions: 3 });
  });

  it('are only told apart where the task has facts', () => {
    const { facts, ...without } = task;
    expect(facts).toHaveLength(4);
    const asked = said(1, 'How much is the surcharge?', 'Add 4.50 euros once.');
    expect(questionCounts({ task: without, turns: [asked, answered] })).toEqual({ questions: 1 });
  });
});

const SURCHARGE = 'How much is the surcharge?';
const WEIGHT = 'From which weight on is a parcel heavy?';
const DECISIONS = [WEIGHT, 'And exactly at the weight limit?', SURCHARGE, 'What about an unknown zone?'];

interface Played {
  readonly isSolved?: boolean;
  readonly reason?: string;
  readonly leaks?: boolean;
  readonly of?: Task;
  readonly simulator?: string;
}

/** Plays eight tasks alike. */
const tasksOf = (questions: readonly string[], played: Played = {}) =>
  taskFigures(trajectoriesOf(questions, played), 'fixed');

const trajectoriesOf = (
  questions: readonly string[],
  { isSolved = false, reason = 'answered', leaks = false, of = task, simulator = 'openai:m' }: Played = {},
): Trajectory[] =>
  Array.from({ length: 8 }, (_, number) => {
    const turns = [
      ...questions.map((text, turn) => ({
        ...said(turn, text, 'You decide.'),
        ...(leaks && { leak: { leaked: true } }),
      })),
      answered,
    ];
    const grade = { mode: 'fixed', reward: Number(isSolved), success: isSolved, tests: [] };
    return {
      ...{ task: { ...of, id: `t${number}` }, turns, state: 'answered' },
      ...{ answer: { reason }, grades: [{ grade }] },
      collaborator: { kind: 'simulator', name: simulator },
    } as unknown as Trajectory;
  });

it('dialogues are counted whose specification failed its check or had none', () => {
  const simulator = 'specification:openai:m,persona=terse';
  const { facts: _, ...without } = task;
  const check = { by: 'openai:checker', passed: 9, tests: 10 };
  const dialogues = [undefined, check, { ...check, passed: 10 }].flatMap((one) => {
    const specification = { requirements: ['Zones cost 5, 8 and 12.'], check: one };
    return trajectoriesOf([WEIGHT], { of: { ...without, specification } as Task, simulator });
  });
  expect(agentFigures('a', dialogues, 'fixed').doubtfulSpecifications).toBe(16);
  expect(agentFigures('a', trajectoriesOf([], { simulator }), 'fixed').doubtfulSpecifications).toBe(0);
  expect(agentFigures('a', trajectoriesOf([]), 'fixed')).not.toHaveProperty('doubtfulSpecifications');
});

describe('Ask-F1', () => {
  const asking = (questions: readonly string[], of?: Task) => {
    const { askF1, askPrecision, askRecall } = agentFigures('a', trajectoriesOf(questions, { of }), 'fixed');
    return { askF1, askPrecision, askRecall };
  };

  it('is 1 for an agent that asks about each decision once', () => {
    expect(asking(DECISIONS)).toEqual({
      askF1: { value: 1, interval: { low: 1, high: 1 } },
      ...{ askPrecision: 1, askRecall: 1 },
    });
  });

  it('is 0 for an agent that asks nothing, which has no precision', () => {
    expect(asking([])).toMatchObject({ askF1: { value: 0 }, askPrecision: null, askRecall: 0 });
  });

  it('is low for an agent that pesters, although it finds every decision', () => {
    const idle = Array.from({ length: 12 }, (_, number) => `Would you like ${number} type hints?`);
    // Harmonic mean of 4/16 and 4/4.
    expect(asking([...DECISIONS, ...idle])).toMatchObject({
      ...{ askF1: { value: 0.4 }, askPrecision: 0.25, askRecall: 1 },
    });
    expect(asking([...DECISIONS, ...DECISIONS])).toMatchObject({ askPrecision: 0.5, askRecall: 1 });
  });

  it('has neither a value nor a zero without facts, or where not all is to be asked', () => {
    const none = { askF1: null, askPrecision: null, askRecall: null };
    const { facts: _, ...without } = task;
    expect(asking(DECISIONS, without)).toEqual(none);
    const [guessing] = trajectoriesOf(DECISIONS);
    const named = { ...guessing!, task: { ...task, id: 'questions-test-1' } };
    expect(agentFigures('a', [named], 'fixed')).toMatchObject(none);
  });

  it('weighs dialogues by their decisions and questions, with an interval over tasks', () => {
    const [silent, good] = [trajectoriesOf([]), trajectoriesOf(DECISIONS)];
    const mixed = [...silent.slice(0, 4), ...good.slice(4)];
    const { askF1 } = agentFigures('a', mixed, 'fixed');
    // 16 asked, 16 missed, none useless.
    expect(askF1).toMatchObject({ value: 32 / 48 });
    expect(askF1!.interval!.low).toBeLessThan(0.6);
    expect(askF1!.interval!.high).toBeGreaterThan(0.7);
    expect(agentFigures('a', good.slice(0, 5), 'fixed').askF1).toEqual({ value: 1 });
  });
});

describe('habits', () => {
  const asksOnce = tasksOf([WEIGHT, SURCHARGE]);
  const names = (after: ReturnType<typeof tasksOf>) =>
    worseHabits(asksOnce, after, 0).map(({ habit }) => habit);

  it('of an agent that repeats, pesters or answers at once are counted', () => {
    expect(tasksOf([SURCHARGE, SURCHARGE, SURCHARGE])[0]).toMatchObject({
      ...{ repeatedQuestions: 2, needlessQuestions: 0, meanQuestions: 3, unaskedRate: 0 },
    });
    expect(tasksOf(['Would you like type hints?', 'Hello there.'])[0]).toMatchObject({
      ...{ repeatedQuestions: 0, needlessQuestions: 2, meanQuestions: 1 },
    });
    expect(agentFigures('a', trajectoriesOf([]), 'fixed')).toMatchObject({
      ...{ meanQuestions: 0, unaskedRate: 1, uselessQuestions: 0, turnLimitRate: 0, leakRate: 0 },
    });
  });

  it('are no answer without a question where the turns ran out', () => {
    expect(tasksOf([], { reason: 'turn-limit' })[0]).toMatchObject({ unaskedRate: 0, turnLimitRate: 1 });
  });

  it('are worse where the interval of the paired difference lies above zero', () => {
    expect(names(asksOnce)).toEqual([]);
    expect(names(tasksOf([WEIGHT, SURCHARGE, SURCHARGE]))).toEqual([
      'repeatedQuestions',
      'meanQuestions',
      'askF1',
    ]);
    expect(names(tasksOf([WEIGHT, SURCHARGE], { leaks: true, reason: 'turn-limit' }))).toEqual([
      'leakRate',
      'turnLimitRate',
    ]);
    const [needless] = worseHabits(asksOnce, tasksOf([WEIGHT, SURCHARGE, 'Type hints?']), 0);
    expect(needless).toMatchObject({
      habit: 'needlessQuestions',
      difference: 1,
      interval: { low: 1, high: 1 },
    });
  });

  it('stand behind success, which is named where it fell', () => {
    const solved = tasksOf([WEIGHT, SURCHARGE], { isSolved: true });
    expect(worseHabits(solved, tasksOf([WEIGHT, SURCHARGE], { leaks: true }), 0)).toMatchObject([
      { habit: 'success', difference: -1, interval: { low: -1, high: -1 } },
      { habit: 'leakRate' },
    ]);
    expect(worseHabits(asksOnce, solved, 0)).toEqual([]);
  });

  it('of asking more, or nothing, are only worse without a gain in success, but Ask-F1 is', () => {
    const more = [WEIGHT, SURCHARGE, 'What about an unknown zone?'];
    expect(names(tasksOf(more))).toEqual(['meanQuestions']);
    expect(names(tasksOf(more, { isSolved: true }))).toEqual([]);
    expect(names(tasksOf([]))).toEqual(['unaskedRate', 'askF1']);
    expect(names(tasksOf([], { isSolved: true }))).toEqual(['askF1']);
  });

  it('are not judged on few tasks, or against an evaluation that did not count them', () => {
    const worse = tasksOf([SURCHARGE, SURCHARGE]);
    expect(worseHabits(asksOnce.slice(0, 5), worse, 0)).toEqual([]);
    const old = asksOnce.map(({ task: id, success, testsPassed, rollouts }) => ({
      ...{ task: id, success, testsPassed, rollouts },
    }));
    const { success } = pairedTasks(old, worse, 0);
    expect(habitChanges(old, worse, { success, seed: 0 })).toEqual([]);
    expect(worseHabits(old, worse, 0)).toEqual([]);
  });
});
