import { describe, expect, it } from 'vitest';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import { Rollouts } from '../../../../src/core/training/credit/rollouts';
import {
  monteCarloCredit,
  type CreditPlan,
  type CreditState,
} from '../../../../experiments/scoreboard/monteCarloCredit';
import { playedCredit } from '../../../../src/core/training/credit/playedCredit';
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

describe('values by rollouts', () => {
  /** Asks for the surcharge in one of two dialogues, else answers at once. */
  const halting: Model = {
    ...lucky,
    generate: (messages, sampling, options) => {
      const isFirst = messages.length === 1;
      if (!isFirst || mulberry32(sampling.seed ?? 0)() < 0.5)
        return lucky.generate(messages, sampling, options);
      const timing = { totalMs: 0, attempts: 1 };
      return Promise.resolve({ text: surcharge, finishReason: 'stop', timing });
    },
  };
  const exchanges = [{ agent: surcharge, reply: 'It is 4.50.' }, { agent: answers('right') }];
  const played = { id: 'd', task, protocol: colBenchProtocol, exchanges, answer: answers('right') };
  const rollouts = (agent: Model, samples: number): Rollouts =>
    new Rollouts({ ...plan(), agent, samples, concurrency: 16 });

  it('are those of the tree that agent and simulator make, to the standard error', async () => {
    const value = rollouts(halting, 600);
    // Told: 0.3 · 1 + 0.7 · 0.5. Before: half of the dialogues ask, the others fail half of the tests.
    expect(Math.abs((await value.value({ ...played, history: exchanges.slice(0, 1) })) - 0.65)).toBeLessThan(
      0.03,
    );
    expect(Math.abs((await value.value({ ...played, history: [] })) - 0.575)).toBeLessThan(0.03);
  });

  it('give credit that sums to R − V(h₁), where a person replied, too', async () => {
    const value = rollouts(lucky, 8);
    const { turns } = await playedCredit(played, value);
    expect(turns[0]!.value).toBe(0.5);
    const [first, second] = turns.map(({ advantage }) => advantage!);
    expect(first! + second!).toBeCloseTo(0.5, 12);
    expect(turns[1]!.value! + second!).toBe(1);
  });

  it('of candidates are those after them, and the reward of one that answers', async () => {
    const value = rollouts(lucky, 600);
    const start = { ...played, history: [] };
    const worth = await value.candidate(start, surcharge);
    expect(Math.abs(worth.value - 0.65)).toBeLessThan(0.03);
    expect(await value.candidate(start, answers('right'))).toEqual({ value: 1, ended: true });
  });
});
