import { mkdtempSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, type TestContext } from 'vitest';
import * as z from 'zod';
import { programOf } from '../../../src/core/task/task';
import { TrajectoryLog } from '../../../src/core/trajectory/log';
import { thumbOf, type DeveloperName } from '../../fixtures/developers';
import { realTrainer } from '../../fixtures/trainer';
import { tandem } from '../cli/tandem';

/** docs/learning-from-people.md has figures from more of them. */
const MAX_TASKS = Number(process.env.TANDEM_PATIENCE_TASKS ?? 32);

const folder = mkdtempSync(path.join(tmpdir(), 'tandem-patience-'));
const inFolder = (name: string): string => path.join(folder, name);
const play = ['--simulator', 'rules', '--max-turns', '6', '--seed', '1'];

async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await tandem(...args);
  expect(code, stdout + stderr).toBe(0);
  return stdout;
}

/** Both developers read the same dialogues: only what they leave differs. */
beforeAll(async () => {
  realTrainer();
  const world = ['--tasks', String(MAX_TASKS), '--seed', '5'];
  await printed('world', inFolder('learned.jsonl'), ...world, '--split', 'train');
  await printed('world', inFolder('unseen.jsonl'), ...world, '--split', 'development');
  const learned = ['--tasks', inFolder('learned.jsonl'), '--data', inFolder('played')];
  await printed('collect', ...learned, '--agent', 'starter', ...play);
  await leaveFeedback('ada');
  await leaveFeedback('ben');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A developer leaves a thumb on each message of the agent, and takes the answers that are right. */
async function leaveFeedback(by: DeveloperName): Promise<void> {
  const data = inFolder(by);
  await cp(inFolder('played'), data, { recursive: true });
  const log = await TrajectoryLog.open(data);
  const signals = ['outcomes'] as const;
  await log.append({ event: 'consent', pseudonym: by, purpose: 'a study', level: 'local', signals });
  for (const { id: episode } of log.list({ sort: 'oldest', offset: 0, limit: MAX_TASKS }).rows) {
    const { task, turns, grades } = (await log.trajectory(episode))!;
    const thumbs = turns.map((_, index) => thumbOf(by, programOf(task), turns.slice(0, index + 1)));
    await log.appendAll([
      ...thumbs.map(
        (thumb, index) => ({ event: 'turn-rating', episode, turn: index + 1, thumb, by }) as const,
      ),
      { event: 'outcome', episode, outcome: grades.at(-1)?.grade.success ? 'accepted' : 'rejected', by },
    ]);
  }
  await log.close();
}

const runSchema = z.object({ summary: z.object({ folder: z.string() }) });

/** Trains the starter model on a developer's feedback alone, and returns the name of the result. */
async function taught(name: string, by: DeveloperName, feedback: object): Promise<string> {
  const file = inFolder(`${name}.json`);
  await writeFile(
    file,
    JSON.stringify({
      name,
      method: 'multiturn-dpo',
      model: { base: path.resolve('media/starter'), device: 'cpu', training: 'full' },
      data: {
        log: inFolder(by),
        held_out: 0,
        feedback: { thumbs: 0, outcomes: 0, verdicts: 0, choices: 0, ...feedback },
      },
      policy: { learning_rate: 3e-4, batch: 16, epochs: 2, patience: 0, evaluate_every: 1000 },
      resources: { token_budget: 8192, checkpoint_activations: false, threads: 1 },
      export: { onnx: ['fp32'] },
    }),
  );
  const stdout = await printed('train', file, '--data', inFolder('runs'), '--follow', '--json');
  return `local:${path.join(runSchema.parse(JSON.parse(stdout)).summary.folder, 'model')}`;
}

const figuresSchema = z.object({
  summary: z.object({
    agents: z.array(
      z.object({
        meanQuestions: z.number(),
        needlessQuestions: z.number(),
        success: z.object({ mean: z.number() }),
      }),
    ),
  }),
});

/** Mean number of questions of each agent on unseen tasks. */
async function questionsOf(agents: readonly string[], { annotate }: TestContext): Promise<number[]> {
  const players = agents.flatMap((agent) => ['--agent', agent]);
  const unseen = ['--tasks', inFolder('unseen.jsonl'), '--data', inFolder('evaluated')];
  const stdout = await printed('evaluate', ...unseen, ...players, ...play, '--json');
  const { summary } = figuresSchema.parse(JSON.parse(stdout));
  const inWords = summary.agents.map(
    ({ meanQuestions, needlessQuestions, success }) =>
      `${meanQuestions.toFixed(2)} questions, ${needlessQuestions.toFixed(2)} needless, success ${success.mean.toFixed(3)}`,
  );
  await annotate(inWords.join('; '));
  return summary.agents.map(({ meanQuestions }) => meanQuestions);
}

it('an agent taught by the thumbs of an impatient developer asks fewer questions than by those of a patient one', async (context) => {
  const patient = await taught('patient', 'ada', { thumbs: 1 });
  const impatient = await taught('impatient', 'ben', { thumbs: 1 });
  const [start, ofPatient, ofImpatient] = await questionsOf(['starter', patient, impatient], context);
  expect(ofImpatient).toBeLessThan(ofPatient! - 0.5);
  expect(ofImpatient).toBeLessThan(start! - 0.5);
});

it('an agent asks fewer questions where each of them costs more of the outcome', async (context) => {
  const free = await taught('free', 'ada', { outcomes: 1, question_price: 0 });
  const dear = await taught('dear', 'ada', { outcomes: 1, question_price: 0.3 });
  const [ofFree, ofDear] = await questionsOf([free, dear], context);
  expect(ofDear).toBeLessThan(ofFree!);
});
