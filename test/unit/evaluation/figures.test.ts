import { describe, expect, it } from 'vitest';
import { questionCounts } from '../../../src/core/evaluation/figures';
import type { Turn } from '../../../src/core/trajectory/trajectory';
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
    expect(counts()).toEqual({ decisions: 4, asked: 0, missed: 4, useless: 0 });
  });

  it('find the decisions that they are about', () => {
    expect(
      counts(
        said(1, 'From which weight on is a parcel heavy?', 'Heavy starts at 20 kilograms for us.'),
        said(2, 'And exactly at the limit?', 'Right on the limit costs nothing extra.'),
        said(3, 'How much is the surcharge, and what about an unknown zone?', 'Add 4.50 euros once.'),
      ),
    ).toEqual({ decisions: 4, asked: 4, missed: 0, useless: 0 });
  });

  it('are useless when they are about nothing the task decides, or were asked before', () => {
    expect(
      counts(
        said(1, 'Would you like type hints?', 'No preference there, you decide.'),
        said(2, 'How much is the surcharge?', 'Add 4.50 euros once.'),
        said(3, 'How much is the surcharge?', 'As I said: Add 4.50 euros once.'),
      ),
    ).toEqual({ decisions: 4, asked: 1, missed: 3, useless: 2 });
  });

  it('are only told apart where the task has facts', () => {
    const { facts, ...without } = task;
    expect(facts).toHaveLength(4);
    expect(questionCounts({ task: without, turns: [answered] })).toBeUndefined();
  });
});
