import { describe, expect, it } from 'vitest';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import {
  monteCarloCredit,
  type CreditPlan,
  type CreditState,
} from '../../../../experiments/scoreboard/rolledOut';
import type { Grader } from '../../../../src/core/grading/grader';
import type { Model } from '../../../../src/core/model/model';
import { mulberry32 } from '../../../../src/core/random';
import type { EventOf } from '../../../../src/core/trajectory/event';
import { answers, shippedPrompts, starterTask } from '../../../fixtures/dialogue';

const task = await starterTask();
const prompts = await shippedPrompts();

/** An agent that answers right in 3 of 10 dialogues when it knows the surcharge, else never. */
const lucky: Model = {
  name: 'lucky',
  generate(messages, { seed = 0 }) {
    const told = messages.some(({ content }) => content.includes('4.50'));
    const knows = told && mulberry32(seed)() < 0.3;
    const timing = { totalMs: 0, attempts: 1 };
    return Promise.resolve({ text: answers(knows ? 'right' : 'wrong'), finishReason: 'stop', timing });
  },
};

/** Stand-in grader; real grading has its own tests. */
const grader: Grader = {
  grade(_, answer, { mode }) {
    const success = answer.includes('right');
    return Promise.resolve({ mode, success, reward: success ? 1 : 0.5, tests: [] });
  },
  checkReference: () => Promise.resolve([]),
  weakTests: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

const head = { version: 1, at: '2026-01-01T00:00:00Z', episode: 'e' };
const candidate = (text: string): EventOf<'agent-turn'> => ({
  ...{ ...head, event: 'agent-turn', turn: 1, text, finishReason: 'stop', model: 'lucky' },
});

const state = (...texts: string[]): CreditState => ({
  id: 'state',
  trajectory: {
    id: 'e',
    task,
    started: {
      ...{ ...head, event: 'episode-started', task: task.id, agent: 'lucky', seed: 1 },
      collaborator: { kind: 'rules', name: 'rules' },
      protocol: colBenchProtocol,
      prompts: {},
    },
    agent: 'lucky',
    collaborator: { kind: 'rules', name: 'rules' },
    state: 'answered',
    turns: [],
    handOvers: [],
    grades: [],
  },
  history: [],
  candidates: texts.map(candidate),
});

const plan = (changes: Partial<CreditPlan> = {}): CreditPlan => ({
  ...{ agent: lucky, simulator: new RulesSimulator(), prompts, sampling: { temperature: 1, maxTokens: 10 } },
  ...{ grader, mode: 'fixed', seed: 1, standardError: 0.05, mostRolls: 100, ...changes },
});

const surcharge = 'How much is the surcharge?';
const idle = 'Would you like a docstring?';

describe('Monte-Carlo credit', () => {
  it('tells a question that leads to success from one that does not, to the standard error asked for', async () => {
    const [good, bad] = await monteCarloCredit(state(surcharge, idle), plan());
    expect(good!.standardError).toBeLessThanOrEqual(0.05);
    expect(Math.abs(good!.success - 0.3)).toBeLessThan(0.15);
    expect(good!.reward).toBeCloseTo(0.5 + good!.success / 2);
    expect(bad).toMatchObject({ success: 0, reward: 0.5 });
    expect(bad!.standardError).toBeLessThanOrEqual(0.05);
    // An agent that never succeeds needs fewer rolls.
    expect(bad!.rolls).toBeLessThan(good!.rolls);
  });

  it('plays an answer once, for it ends the dialogue', async () => {
    const [value] = await monteCarloCredit(state(answers('right')), plan());
    expect(value).toEqual({ success: 1, reward: 1, standardError: 0, rolls: 1 });
  });
});
