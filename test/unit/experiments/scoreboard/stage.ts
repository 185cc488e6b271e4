import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import type { Grader } from '../../../../src/core/grading/grader';
import type { Model } from '../../../../src/core/model/model';
import { mulberry32 } from '../../../../src/core/random';
import type { BoardOptions } from '../../../../experiments/scoreboard/board';
import type { Method } from '../../../../experiments/scoreboard/methods';
import { full, type Plan } from '../../../../experiments/scoreboard/plan';
import type { BoardProgress, Surroundings } from '../../../../experiments/scoreboard/surroundings';
import type { questionTasks } from '../../../../src/core/task/starter/questions/world';
import { starterTasks } from '../../../../src/core/task/starter/world';
import { answers, shippedPrompts } from '../../../fixtures/dialogue';

/**
 * Plays a scoreboard without models: an agent is a folder with a success rate, a training writes such a folder, and an
 * answer says whether it is right. The tests check what the scoreboard trains, plays, chooses and compares, and that it
 * does nothing twice.
 */
export const plan: Plan = {
  ...full,
  offline: { tasks: 6, rollouts: 2, ranked: 0.5, seed: 10 },
  development: { tasks: 12, rollouts: 1, seed: 20 },
  test: { tasks: 6, rollouts: 2, seed: 30 },
  temperatures: [1, 0],
  choiceSeeds: [9],
  seeds: [1, 2],
  fewSeeds: 1,
  bestNew: 1,
  settings: 2,
  credit: { ...full.credit, states: 4, samples: 4, standardError: 0.2, mostRolls: 20 },
};

const fieldsSchema = z.object({
  method: z.string(),
  policy: z.object({ learning_rate: z.number() }),
  seed: z.number(),
});

const rowSchema = z.object({
  tandem: z.object({ episode: z.string() }),
  dialogue_history: z.array(z.object({ content: z.string() })),
});

/** Makes a setting; its learning rate stands for the success rate after training. */
const setting = (name: string, rate: number) => ({ name, fields: { policy: { learning_rate: rate } } });

const START = { name: '–', fields: {} };

export const methods: readonly Method[] = [
  {
    ...{ name: 'zero-shot', role: 'anchor', about: 'The start.', settings: [START] },
    ...{ uses: [], agent: ({ start }) => start },
  },
  // The composed agent comes before the methods that it uses.
  {
    ...{ name: 'either', role: 'new', about: 'The better of two models.', settings: [START] },
    uses: ['rft', 'sweet-rl'],
    agent: ({ model, critic }) => `local:${model('rft')}+${critic('sweet-rl')}`,
  },
  {
    ...{ name: 'rft', role: 'other', about: 'Imitates.' },
    fields: { method: 'rft' },
    settings: [setting('weak', 0.1), setting('strong', 0.5)],
  },
  {
    ...{ name: 'sweet-rl', role: 'anchor', about: 'Ranks turns.' },
    fields: { method: 'sweet-rl' },
    settings: [setting('β 0.3, NLL 1', 0.3), setting('strong', 0.95)],
  },
  {
    ...{ name: 'multiturn-dpo', role: 'anchor', about: 'Pairs dialogues.' },
    fields: { method: 'multiturn-dpo' },
    settings: [setting('β 0.3, NLL 1', 0.1)],
  },
];

/** Number of cells: one a setting, and one a seed of each method; the last one is of the ablation alone. */
export const CELLS = { development: 7, test: 2 + 2 + 1 + 2 + 2 + 1 };

export interface Stage {
  readonly to: BoardOptions;
  /** Names of the runs that were trained, in their order. */
  readonly trained: string[];
  /** Number of requested agent turns. */
  readonly turns: { asked: number };
  readonly told: BoardProgress[];
}

export async function stage(folder: string, changes: Partial<BoardOptions> = {}): Promise<Stage> {
  const trained: string[] = [];
  const turns = { asked: 0 };
  const told: BoardProgress[] = [];
  const start = path.join(folder, 'start');
  await writeModel(start, 0.2);
  const to: BoardOptions = {
    ...{ out: path.join(folder, 'out'), rows: path.join(folder, 'rows.jsonl'), plan, methods, grader },
    start: { name: `local:${start}`, folder: start, fingerprint: 'start' },
    piece: { methods: methods.map(({ name }) => name), seeds: [1, 2, 3] },
    ...{ withCredit: false, precision: 'fp32', simulator: new RulesSimulator() },
    prompts: await shippedPrompts(),
    openAgent: (name) => agentOf(name, turns),
    tasks: starterDraws,
    train: async ({ key, configuration, onProgress }) => {
      onProgress({ preparing: 'launch' });
      const { method, policy, seed } = fieldsSchema.parse(configuration.forTrainer);
      const model = path.join(folder, 'runs', key);
      if (!(await isThere(model))) {
        trained.push(`${method} ${policy.learning_rate} seed ${seed}`);
        await writeModel(model, policy.learning_rate);
      }
      return {
        model,
        costs: { played: 0, sampled: 100, trained: 1000, minutes: 2 },
        ...(method === 'sweet-rl' && { critic: model }),
      };
    },
    // The critic is always right, and the untrained score always wrong.
    score: async ({ trajectories }) => {
      const rows = (await readFile(trajectories[0]!, 'utf8')).trim().split('\n');
      return rows.map((line) => {
        const { tandem, dialogue_history: history } = rowSchema.parse(JSON.parse(line));
        const { content } = history.at(-1)!;
        const advantage = content.includes('right') ? 2 : content.includes('wrong') ? 0 : 1;
        const turn = { turn: history.length - 1, tokens: 1, advantage, untrained: -advantage };
        return { id: tandem.episode, task: '', reward: null, turns: [turn] };
      });
    },
    onProgress: (progress) => told.push(progress),
    ...changes,
  };
  return { to, trained, turns, told };
}

/** Draws tasks of a world, and keeps each draw: all scoreboards of a test file play the same ones. */
export function tasksOf(world: typeof starterTasks | typeof questionTasks): Surroundings['tasks'] {
  const drawn = new Map<string, ReturnType<Surroundings['tasks']>>();
  return ({ split, count, seed }) => {
    const key = `${split} ${count} ${seed}`;
    const known = drawn.get(key);
    if (known !== undefined) return known;
    const generated = world({ split, seed, difficulty: 'gentle' });
    const tasks = Array.from({ length: count }, () => ({ task: generated.next().value.task }));
    drawn.set(key, tasks);
    return tasks;
  };
}

const starterDraws = tasksOf(starterTasks);

async function writeModel(folder: string, rate: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'rate'), String(rate));
}

const isThere = (folder: string): Promise<boolean> =>
  readFile(path.join(folder, 'rate')).then(
    () => true,
    () => false,
  );

/**
 * Makes an agent that answers at once or asks first, depending on the seed. Its success rate is the highest one of its
 * folders, `local:A+B`.
 */
function agentOf(name: string, turns: { asked: number }): Model {
  const folders = name.replace('local:', '').split('+');
  const rates = async (): Promise<number[]> =>
    Promise.all(folders.map(async (folder) => Number(await readFile(path.join(folder, 'rate'), 'utf8'))));
  let reading: Promise<number[]> | undefined;
  return {
    ...{ name, fingerprint: folders.map((folder) => path.basename(folder)).join('+') },
    async generate(messages, { seed = 0 }) {
      turns.asked += 1;
      const rate = Math.max(...(await (reading ??= rates())));
      const random = mulberry32(seed);
      const isFirst = messages.length === 1;
      const code = random() < rate ? 'right' : 'wrong';
      const text = isFirst && random() < 0.5 ? 'Would you like a docstring?' : answers(code);
      const timing = { totalMs: 1, attempts: 1 };
      return { text, finishReason: 'stop', tokens: { ids: [1, 2, 3] }, timing };
    },
  };
}

const grader: Grader = {
  grade(_, answer, { mode }) {
    const success = answer.includes('right');
    return Promise.resolve({ mode, success, reward: Number(success), tests: [] });
  },
  checkReference: () => Promise.resolve([]),
  weakTests: () => Promise.resolve([]),
  close: () => Promise.resolve(),
};
