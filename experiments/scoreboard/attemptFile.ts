import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { ATTEMPT_FILE, attemptsIn } from '../../src/core/training/attempts';
import { ifThere, writeAtomically } from '../../src/core/trajectory/files';

const rate = z.number();
const nullable = z.number().nullable();
const estimate = z.object({ mean: rate, interval: z.object({ low: rate, high: rate }) }).nullable();

/** The result of playing a split: the figures of `tandem evaluate`, and those of each task. */
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

/** The content of `attempt.json`, beside the log of the attempt's dialogues. */
const attemptSchema = z.object({
  method: z.string(),
  setting: z.string().nullable(),
  fields: z.record(z.string(), z.unknown()),
  seed: z.number(),
  split: z.enum(['development', 'test']),
  /** `begun`: still at work, or its process was killed. */
  state: z.enum(['begun', 'done', 'failed']),
  message: z.string().optional(),
  begun: z.string(),
  seconds: z.number().optional(),
  /** Duration of the training, which may have been in an earlier attempt; includes the pauses of a stopped run. */
  trainingSeconds: z.number().optional(),
  run: z.string().optional(),
  /** Paths relative to the folder of the scoreboard. */
  model: z.string().optional(),
  critic: z.string().optional(),
  sampled: playedSchema.optional(),
  greedy: playedSchema.optional(),
  /** Digest of methods and plan, which may change while a table is being made. */
  key: z.string(),
});

export type Played = z.infer<typeof playedSchema>;
export type Attempt = z.infer<typeof attemptSchema>;

/** An attempt that succeeded. */
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

/** Returns every attempt ever made in this folder, including those of earlier plans; the oldest first. */
export async function allAttempts(out: string): Promise<Attempt[]> {
  const all = await Promise.all((await attemptsIn(out)).map(readAttempt));
  return all.filter((one) => one !== undefined).sort((a, b) => a.begun.localeCompare(b.begun));
}
