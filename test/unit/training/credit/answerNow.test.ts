import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ANSWER_OPENINGS } from '../../../../src/core/dialogue/markers';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import type { Grader } from '../../../../src/core/grading/grader';
import type { GenerateOptions, Model } from '../../../../src/core/model/model';
import { AnswerNow } from '../../../../src/core/training/credit/answerNow';
import {
  playedCredit,
  rewardOf,
  type PlayedDialogue,
  type ValuePlan,
} from '../../../../src/core/training/credit/playedCredit';
import { answers, asks, shippedPrompts, starterTask } from '../../../fixtures/dialogue';

const task = await starterTask();
const prompts = await shippedPrompts();

/** Stand-in grader: an answer is worth the number in it. */
const grader: Pick<Grader, 'grade'> = {
  grade: (_, answer, { mode }) => {
    const reward = Number(/\d\.\d+/.exec(answer)?.[0] ?? 0);
    return Promise.resolve({ mode, success: reward === 1, reward, tests: [] });
  },
};

const agentThat = (write: (text: string, seed: number, options: GenerateOptions) => string): Model => ({
  name: 'agent',
  generate: (messages, { seed = 0 }, options = {}) =>
    Promise.resolve({
      text: write(messages.map(({ content }) => content).join('\n'), seed, options),
      finishReason: 'stop',
      timing: { totalMs: 0, attempts: 1 },
    }),
});

/** Passes a quarter of the tests, and all once it knows the surcharge. */
const informed = agentThat((text) => answers(text.includes('It is 4.50') ? '1.00' : '0.25'));

const plan = (agent: Model, changes: Partial<ValuePlan> = {}): ValuePlan => ({
  ...{
    agent,
    simulator: new RulesSimulator(),
    prompts,
    grader,
    mode: 'fixed',
    samples: 4,
    seed: 1,
    concurrency: 4,
  },
  ...{ sampling: { temperature: 1, maxTokens: 10 }, ...changes },
});

const surcharge = { agent: asks('How much is the surcharge?'), reply: 'It is 4.50.' };
const idle = { agent: asks('Would you like a docstring?'), reply: 'As you like.' };

const dialogue = (changes: Partial<PlayedDialogue> = {}): PlayedDialogue => ({
  ...{ id: 'd', task, protocol: colBenchProtocol, answer: '0.50' },
  exchanges: [surcharge, idle, surcharge, { agent: answers('0.50') }],
  ...changes,
});

const credited = async (played: PlayedDialogue, by: ValuePlan): Promise<(number | null)[]> =>
  (await playedCredit(played, new AnswerNow(by))).turns.map(({ advantage }) => advantage);

describe('answer-now credit', () => {
  it('is the gain of forced answers, and sums to R − Φ(h₁)', async () => {
    const credit = await playedCredit(dialogue(), new AnswerNow(plan(informed)));
    expect(credit.turns.map(({ value }) => value)).toEqual([0.25, 1, 1, 1]);
    // Only the first question tells something; the answer is worse than what was known.
    expect(credit.turns.map(({ advantage }) => advantage)).toEqual([0.75, 0, 0, -0.5]);
    expect(rewardOf(credit)).toBe(0.5);
    expect(credit).toMatchObject({ unit: 'reward', episode: 'd' });
  });

  it('is exactly 0 for a question that repeats an earlier one, even by an agent that is never the same', async () => {
    const moody = agentThat((text, seed) => {
      const digest = createHash('sha256').update(`${text}${seed}`).digest().readUInt16BE();
      return answers((digest / 65536).toFixed(6));
    });
    const [first, second, repeated] = await credited(dialogue(), plan(moody));
    expect(first).not.toBe(0);
    expect(second).not.toBe(0);
    expect(repeated).toBe(0);
  });

  it('draws the same seeds at every history, so that a reply that changes no answer earns 0', async () => {
    const lucky = agentThat((text, seed) =>
      answers(text.includes('It is 4.50') && seed % 2 ? '1.00' : '0.25'),
    );
    const [first, second] = await credited(dialogue(), plan(lucky, { samples: 16 }));
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(0.75);
    expect(second).toBe(0);
  });

  it('of an unfinished dialogue ends with the last reply, and is unknown while that is missing', async () => {
    const open = { answer: undefined, exchanges: [surcharge, idle] };
    expect(await credited(dialogue(open), plan(informed))).toEqual([0.75, 0]);
    const waiting = { answer: undefined, exchanges: [surcharge, { agent: idle.agent }] };
    expect(await credited(dialogue(waiting), plan(informed))).toEqual([0.75, null]);
  });

  it('lets a local model’s message begin only as an answer, and tells others that the turn is the last', async () => {
    const seen: { text: string; openings: GenerateOptions['openings'] }[] = [];
    const agent = agentThat((text, _, { openings }) => {
      seen.push({ text, openings });
      return answers('0.75');
    });
    const here = { ...dialogue(), history: [surcharge] };
    const continuing = new AnswerNow(
      plan({ ...agent, forcesOpening: () => Promise.resolve(true) }, { samples: 1 }),
    );
    expect([await continuing.forcing(), await continuing.value(here)]).toEqual(['opening', 0.75]);
    const told = new AnswerNow(plan(agent, { samples: 1 }));
    expect([await told.forcing(), await told.value(here)]).toEqual(['last-turn', 0.75]);
    expect(seen.map(({ openings }) => openings)).toEqual([ANSWER_OPENINGS, undefined]);
    expect(seen[0]!.text).toContain('at most 10 messages');
    expect(seen[1]!.text).toContain('at most 2 messages');
  });

  it('of a page is what its drafts gained', async () => {
    const page = { kind: 'page' as const, id: 'p', description: 'A page', reference: '<html></html>' };
    const drafts = [
      { turn: 1, score: 0.25 },
      { turn: 3, score: 0.75 },
    ];
    const exchanges = [idle, idle, { agent: '<html></html>' }];
    const credit = await playedCredit(
      dialogue({ task: page, drafts, exchanges }),
      new AnswerNow(plan(informed)),
    );
    expect(credit.turns.map(({ value, advantage }) => [value, advantage])).toEqual([
      [0, 0.25],
      [0.25, 0],
      [0.25, 0.5],
    ]);
    expect(rewardOf(credit)).toBe(0.75);
  });
});

describe('a candidate', () => {
  const here = { ...dialogue(), history: [idle] };

  it('that asks is worth what is known after the simulator’s reply', async () => {
    const knows = agentThat((text) => answers(/Assistant|4\.50/.test(text) ? '1.00' : '0.25'));
    const worth = await new AnswerNow(plan(knows)).candidate(here, surcharge.agent);
    expect(worth).toMatchObject({ value: 1, ended: false });
    expect(worth.reply).toContain('4.50');
  });

  it('that answers, or is the last turn, is worth its reward', async () => {
    const value = new AnswerNow(plan(informed));
    expect(await value.candidate(here, answers('0.75'))).toEqual({ value: 0.75, ended: true });
    const last = { ...here, protocol: { ...colBenchProtocol, maxTurns: 2 } };
    expect(await value.candidate(last, asks('Is it 0.10?'))).toEqual({ value: 0.1, ended: true });
  });
});
