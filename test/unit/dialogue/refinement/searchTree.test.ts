import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { collect, type CollectionPlan } from '../../../../src/core/dialogue/collect';
import { rendering } from '../../../../src/core/dialogue/conversation';
import { colBenchProtocol } from '../../../../src/core/dialogue/protocol';
import { RefinedModel } from '../../../../src/core/dialogue/refinement/refinedModel';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import type { AnswerRunner, Grader } from '../../../../src/core/grading/grader';
import type { ChatMessage, Generation, Model } from '../../../../src/core/model/model';
import { exportTrajectories } from '../../../../src/core/trajectory/export/export';
import type { TrajectoryLog } from '../../../../src/core/trajectory/log';
import { ROLES, type Role } from '../../../../src/core/trajectory/searchTree';
import type { Trajectory } from '../../../../src/core/trajectory/trajectory';
import { answers, asks, shippedPrompts, starterTask } from '../../../fixtures/dialogue';
import { openLog, temporaryFolder } from '../../../fixtures/log';

const returning = (value: number): string =>
  answers(`def parcel_price(weight_kg, zone):\n    return ${value}`);
const returned = (code: string): string => /return (\d+)/.exec(code)![1]!;

/** Says something else each time. */
class Speaker implements Model {
  readonly read: (readonly ChatMessage[])[] = [];
  /** Numbers of calls, from 0, that fail. */
  failing: readonly number[] = [];

  constructor(
    readonly name: string,
    private readonly say: (call: number) => string,
  ) {}

  generate(messages: readonly ChatMessage[]): Promise<Generation> {
    const call = this.read.push(messages) - 1;
    if (this.failing.includes(call)) return Promise.reject(new Error('The server is gone.'));
    const usage = { promptTokens: 10, completionTokens: 1 };
    return Promise.resolve({
      ...{ text: this.say(call), finishReason: 'stop', usage },
      timing: { totalMs: 1, attempts: 1 },
    });
  }
}

/** An answer gives its constant for every call. */
const runner: AnswerRunner = {
  run: (code, calls) =>
    Promise.resolve(
      calls.map(() => {
        const value = returned(code);
        return { kind: 'value', canonical: value, none: false, display: value, milliseconds: 1 };
      }),
    ),
};

/** Answers that return less than 3 are right. */
const grader: Grader = {
  grade: (_, answer, { mode }) => {
    const success = Number(returned(answer)) < 3;
    return Promise.resolve({ mode, reward: Number(success), success, tests: [] });
  },
  checkReference: () => Promise.resolve([]),
  weakTests: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};

let log: TrajectoryLog;
let generator: Speaker;
let verifier: Speaker;
let refiner: Speaker;

beforeEach(async () => {
  log = await openLog(path.join(await temporaryFolder(), '.tandem'));
  // A question first, which all endings share.
  generator = new Speaker('g', (call) => (call === 0 ? asks('Which zones?') : returning(100 + call)));
  verifier = new Speaker('v', (call) => `Wording ${call}?`);
  refiner = new Speaker('r', returning);
});

async function collectTree(changes: Partial<CollectionPlan> = {}) {
  const roles = { generator, verifier, refiner };
  const plan: CollectionPlan = {
    ...{ log, grader, simulator: new RulesSimulator(), prompts: await shippedPrompts() },
    agent: new RefinedModel('refine:g,verifier=v,refiner=r', roles, 2, () => runner, 1),
    tasks: [{ task: await starterTask() }],
    ...{ rollouts: 8, branches: 2, concurrency: 1, seed: 1, protocol: colBenchProtocol, mode: 'fixed' },
    ...{ sampling: { temperature: 1, maxTokens: 100 }, collection: 'tree2-test' },
    ...changes,
  };
  return collect(plan);
}

async function endings(): Promise<readonly Trajectory[]> {
  const { rows } = log.list({ filter: {}, sort: 'oldest', offset: 0, limit: 100 });
  const played = await Array.fromAsync(log.trajectories(rows.map(({ id }) => id)));
  return played.toSorted((one, other) => one.started.rollout! - other.started.rollout!);
}

const calls = (): readonly number[] => [generator, verifier, refiner].map(({ read }) => read.length);

describe('collecting a search tree', () => {
  it.each([1, 4])(
    'samples every branch once, %i at a time, and logs each ending as a dialogue',
    async (concurrency) => {
      expect(await collectTree({ concurrency })).toMatchObject({ total: 8, done: 8, failed: 0 });
      // A question, then two drafts for each of two branches.
      expect(calls()).toEqual([5, 4, 8]);
      const played = await endings();
      const texts = played.map(({ turns }) => turns.map(({ agent, reply }) => [agent.text, reply?.text]));
      expect(texts.map((turns) => turns.length)).toEqual(Array(8).fill(3));
      const distinct = (turn: number): number => new Set(texts.map((turns) => turns[turn]![0])).size;
      expect([0, 1, 2].map(distinct)).toEqual([1, 4, 8]);
      expect(texts[5]!.slice(0, 2)).toEqual(texts[4]!.slice(0, 2));
      const drafts = played.map(({ turns }) => turns[1]!.agent.selection!.candidates[0]!.text);
      expect(new Set(drafts.slice(0, 4)).size).toBe(1);
      expect(drafts[4]).not.toBe(drafts[0]);
    },
  );

  it('counts the tokens of shared turns in one ending only', async () => {
    await collectTree();
    const used = (await endings()).flatMap(({ turns }) => turns.flatMap(({ agent }) => agent.usage ?? []));
    const tokens = used.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
    expect(tokens).toBe(calls().reduce((sum, count) => sum + count, 0));
  });

  it('goes on after a failure without playing anything twice', async () => {
    refiner.failing = [2];
    // The next ending would branch off from the one that failed.
    expect(await collectTree()).toMatchObject({ total: 8, done: 6, failed: 1 });
    expect(calls()).toEqual([5, 4, 7]);
    expect(await collectTree()).toMatchObject({ total: 8, done: 8, already: 6 });
    expect(calls()).toEqual([5, 4, 9]);
    expect(await endings()).toHaveLength(8);
    expect(await collectTree()).toMatchObject({ total: 8, done: 8, already: 8 });
  });

  it('branches only at roles that speak', async () => {
    generator = new Speaker('g', () => returning(1));
    expect(await collectTree()).toMatchObject({ total: 2, done: 2, solved: 2 });
    expect(calls()).toEqual([4, 0, 0]);
    expect(await collectTree()).toMatchObject({ total: 2, done: 2, already: 2 });
  });
});

interface Row {
  readonly prompt: readonly ChatMessage[];
  readonly chosen: readonly ChatMessage[];
  readonly rejected: readonly ChatMessage[];
  readonly tandem: {
    readonly chosen: { readonly value: number };
    readonly rejected: { readonly value: number };
  };
}

async function rowsOf(role: Role): Promise<readonly Row[]> {
  const file = path.join(await temporaryFolder(), 'rows.jsonl');
  await exportTrajectories(log, file, { format: role, ...rendering(role, await shippedPrompts()) });
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Row);
}

describe('a row of a role', () => {
  // Endings 0, 1 and 2 are right: V(0,0) = 1, V(0,1) = 1/2, V(0) = 3/4, V(1) = 0.
  it.each([
    ['generator', returning(101), returning(103), [0.75, 0], 1],
    ['verifier', 'Wording 0?', 'Wording 1?', [1, 0.5], 0],
    ['refiner', returning(2), returning(3), [1, 0], 2],
  ] as const)(
    'of %s is a good and a bad output after what it read',
    async (role, good, bad, values, call) => {
      await collectTree();
      const rows = await rowsOf(role);
      expect(rows).toHaveLength(1);
      const { prompt, chosen, rejected, tandem } = rows[0]!;
      expect([chosen, rejected].map(([said]) => said!.content)).toEqual([good, bad]);
      expect([tandem.chosen.value, tandem.rejected.value]).toEqual(values);
      expect(prompt).toEqual({ generator, verifier, refiner }[role].read[call]);
    },
  );

  it('is missing where no role differs', async () => {
    refiner = new Speaker('r', () => returning(1));
    await collectTree();
    for (const role of ROLES) expect(await rowsOf(role)).toEqual([]);
  });
});
