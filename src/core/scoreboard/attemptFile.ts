import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readWhole } from '../training/runFolder';
import { ifThere, writeAtomically } from '../trajectory/files';

/** In the folder of an attempt. */
const ATTEMPT_FILE = 'attempt.json';

export function attemptFolder(out: string, name: string): string {
  return join(out, 'attempts', name);
}

const rate = z.number();
const nullable = z.number().nullable();
const estimate = z.object({ mean: rate, interval: z.object({ low: rate, high: rate }) }).nullable();

/** How a model played a split: what `tandem evaluate` says, and the figures of each task. */
const playedSchema = z.object({
  figures: z.looseObject({
    dialogues: z.number(),
    success: estimate,
    testsPassed: estimate,
    meanTurns: nullable,
    missedDecisions: nullable,
    uselessQuestions: nullable,
    meanTokens: nullable,
    meanSeconds: nullable,
    turnLimitRate: nullable,
    notGradable: z.number(),
    unfinished: z.number(),
  }),
  tasks: z.array(z.object({ task: z.string(), success: rate, testsPassed: rate })),
});

/** Beside the log of its play. */
const attemptSchema = z.object({
  method: z.string(),
  setting: z.string().nullable(),
  fields: z.record(z.string(), z.unknown()),
  seed: z.number(),
  split: z.enum(['development', 'test']),
  /** `begun`: at work, or the process was killed. */
  state: z.enum(['begun', 'done', 'failed']),
  message: z.string().optional(),
  begun: z.string(),
  seconds: z.number().optional(),
  /** How long its training took, whenever that was; pauses of a run that was stopped are in it. */
  trainingSeconds: z.number().optional(),
  run: z.string().optional(),
  /** Relative to the folder of the scoreboard. */
  model: z.string().optional(),
  critic: z.string().optional(),
  sampled: playedSchema.optional(),
  greedy: playedSchema.optional(),
  /** Of the methods and the plan, which change while a table is being made ready. */
  key: z.string(),
});

export type Played = z.infer<typeof playedSchema>;
export type Attempt = z.infer<typeof attemptSchema>;

/** An attempt that came to its end. */
export type Done = Attempt & { readonly sampled: Played; readonly greedy: Played };

export const isDone = (attempt: Attempt): attempt is Done =>
  attempt.state === 'done' && attempt.sampled !== undefined && attempt.greedy !== undefined;

export async function readAttempt(folder: string): Promise<Attempt | undefined> {
  const text = await ifThere(() => readFile(join(folder, ATTEMPT_FILE), 'utf8'));
  return text === undefined ? undefined : attemptSchema.parse(JSON.parse(text));
}

export function keepAttempt(folder: string, one: Attempt): Promise<void> {
  const text = `${JSON.stringify(one, undefined, 1)}\n`;
  return writeAtomically(join(folder, ATTEMPT_FILE), (file) => file.writeFile(text));
}

/** Every attempt that was ever made in this folder, the oldest first; those of earlier plans, too. */
export async function allAttempts(out: string): Promise<Attempt[]> {
  const all = await Promise.all((await foldersIn(out)).map(readAttempt));
  return all.filter((one) => one !== undefined).sort((a, b) => a.begun.localeCompare(b.begun));
}

/** What the runs of a scoreboard trained, by their ids: `sweet-rl, lr 1e-3, seed 2`. An unreadable attempt names none. */
export async function trainedCells(out: string): Promise<ReadonlyMap<string, string>> {
  const files = (await foldersIn(out)).map((folder) => join(folder, ATTEMPT_FILE));
  const attempts = await Promise.all(files.map((file) => readWhole(file, attemptSchema)));
  return new Map(
    attempts.flatMap((one) => (one?.run === undefined ? [] : [[one.run, cellName(one)] as const])),
  );
}

/** What is trained, on whichever split it then plays. */
export const cellName = ({ method, setting, seed }: Pick<Attempt, 'method' | 'setting' | 'seed'>): string =>
  [method, ...(setting === null ? [] : [setting]), `seed ${seed}`].join(', ');

async function foldersIn(out: string): Promise<string[]> {
  const names = (await ifThere(() => readdir(attemptFolder(out, '')))) ?? [];
  return names.map((name) => attemptFolder(out, name));
}
