import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { RulesSimulator } from '../../../../src/core/dialogue/simulator';
import type { Grader } from '../../../../src/core/grading/grader';
import type { Model } from '../../../../src/core/model/model';
import { mulberry32 } from '../../../../src/core/random';
import { full, type Method, type Plan } from '../../../../experiments/scoreboard/plan';
import type { BoardProgress, Surroundings } from '../../../../experiments/scoreboard/surroundings';
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
  development: { tasks: 4, seed: 20 },
  test: { tasks: 6, seed: 30 },
  choiceSeeds: [9],
  seeds: [1, 2],
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

export const methods: readonly Method[] = [
  { name: 'zero-shot', about: 'The start.', fields: null, settings: [] },
  {
    name: 'rft',
    about: 'Imitates.',
    fields: { method: 'rft' },
    settings: [setting('weak', 0.1), setting('strong', 0.5)],
  },
  {
    name: 'sweet-rl',
    about: 'Ranks turns.',
    fields: { method: 'sweet-rl' },
    settings: [setting('strong', 0.95), setting('weak', 0.3)],
  },
];

export interface Stage {
  readonly to: Surroundings;
  /** Names of the runs that were trained, in their order. */
  readonly trained: string[];
  /** Number of requested agent turns. */
  readonly turns: { asked: number };
  readonly told: BoardProgress[];
}

export async function stage(folder: string, changes: Partial<Surroundings> = {}): Promise<Stage> {
  const trained: string[] = [];
  const turns = { asked: 0 };
  const told: BoardProgress[] = [];
  const start = path.join(folder, 'start');
  await writeModel(start, 0.2);
  const to: Surroundings = {
    ...{ out: path.join(folder, 'out'), plan, methods, start, prompts: await shippedPrompts() },
    simulator: new RulesSimulator(),
    ...{ grader, trainerCode: 'as it is', precision: 'fp32' },
    openAgent: (where) => agentOf(where, turns),
    tasks: drawnTasks,
    train: async ({ key, configuration, onProgress }) => {
      onProgress({ preparing: 'launch' });
      const { method, policy, seed } = fieldsSchema.parse(configuration.forTrainer);
      const at = '2026-01-01T00:00:00Z';
      const model = path.join(folder, 'runs', key);
      if (!(await isThere(model))) {
        trained.push(`${method} ${policy.learning_rate} seed ${seed}`);
        await writeModel(model, policy.learning_rate);
      }
      return {
        model,
        run: { id: key, startedAt: at, changedAt: at },
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

/** Cache of drawn tasks; all scoreboards of a test file play the same ones. */
const drawn = new Map<string, ReturnType<Surroundings['tasks']>>();

const drawnTasks: Surroundings['tasks'] = ({ split, count, seed }) => {
  const key = `${split} ${count} ${seed}`;
  const known = drawn.get(key);
  if (known !== undefined) return known;
  const world = starterTasks({ split, seed, difficulty: 'gentle' });
  const tasks = Array.from({ length: count }, () => ({ task: world.next().value.task }));
  drawn.set(key, tasks);
  return tasks;
};

async function writeModel(folder: string, rate: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'rate'), String(rate));
}

const isThere = (folder: string): Promise<boolean> =>
  readFile(path.join(folder, 'rate')).then(
    () => true,
    () => false,
  );

/** Makes an agent that answers at once or asks first, depending on the seed, with the success rate of its folder. */
function agentOf(folder: string, turns: { asked: number }): Model {
  let reading: Promise<string> | undefined;
  return {
    name: `local:${folder}`,
    fingerprint: path.basename(folder),
    async generate(messages, { seed = 0 }) {
      turns.asked += 1;
      const rate = Number(await (reading ??= readFile(path.join(folder, 'rate'), 'utf8')));
      const random = mulberry32(seed);
      const isFirst = messages.length === 1;
      const code = random() < rate ? 'right' : 'wrong';
      const text = isFirst && random() < 0.5 ? 'Would you like a docstring?' : answers(code);
      return { text, finishReason: 'stop', timing: { totalMs: 1, attempts: 1 } };
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
