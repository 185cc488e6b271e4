import { join, resolve } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { examplesSchema, shortageSchema, trainedOnSchema, type TrainedOn } from './data/report';
import { runFiles } from './runFolder';
import { ask, sentenceOf, type TrainerAnswer, type Trainer, WRONG_USE } from './trainer';

const checkSchema = z.looseObject({
  name: z.string(),
  status: z.enum(['ok', 'warning', 'failed']),
  /** The command that was run, with its result and a remedy. */
  command: z.string(),
  saw: z.string(),
  remedy: z.string().optional(),
});
export type Check = z.infer<typeof checkSchema>;

/** The message lists every failed check with its command, result and remedy. */
export class UnfitMachine extends Fault {
  constructor(readonly failed: readonly Check[]) {
    const lines = failed.map(
      ({ name, saw, command, remedy }) => `\n${name}: ${saw}\n  ran ${command}\n  to fix: ${remedy}`,
    );
    super('training/unfit-machine', `This machine cannot train yet:${lines.join('')}`);
  }
}

const examinationSchema = z.looseObject({
  version: z.number(),
  ok: z.boolean(),
  checks: z.array(checkSchema),
});

/** Sizes in bytes, times in seconds. */
export const planSchema = z.looseObject({
  machine: z.looseObject({
    name: z.string(),
    dtype: z.string(),
    /** Memory that each process may use; null when it is not known. */
    usable: z.number().nullable(),
    /** The times were measured with this model on this device. */
    measured: z.boolean(),
    /** Absent in older plans. */
    processes: z.number().default(1),
  }),
  training: z.string(),
  fits: z.boolean(),
  token_budget: z.number(),
  checkpoint_activations: z.boolean(),
  /** Peak memory of each process. */
  needed: z.number(),
  disk: z.number(),
  /** Tokens of the largest example, and of the largest that would fit. */
  largest: z.number(),
  room: z.number(),
  /** Duration by stage; null when it is not known. */
  seconds: z.record(z.string(), z.number().nullable()),
  total_seconds: z.number().nullable(),
  /** Most helpful first. */
  advice: z.array(z.string()),
  /** Counted with the model's tokenizer. */
  data: z.looseObject({
    trajectories: z.number(),
    tasks: z.number(),
    successes: z.number(),
    turns: z.number(),
    tokens: z.number(),
    critic: examplesSchema(),
    policy: examplesSchema(),
    left_out: z.record(z.string(), z.number()),
    shortages: z.array(shortageSchema()),
  }),
});
export type Plan = z.infer<typeof planSchema>;

interface ExamineOptions {
  /** Its disk is checked, and the needs of its run.json. */
  readonly folder?: string;
  /** Also when nothing has changed since the last success. */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Takes as long as the import of torch, or a moment when the last check of packages and device succeeded and nothing
 * has changed since.
 * @throws {Fault} `training/trainer-broken`
 */
export async function examine(
  trainer: Trainer,
  { folder, again = false, signal }: ExamineOptions = {},
): Promise<readonly Check[]> {
  const run = folder === undefined ? [] : [join(folder, runFiles.configuration)];
  const found = trainer.found === undefined ? [] : ['--found', trainer.found];
  const args = [...run, ...found, ...(again ? ['--again'] : [])];
  return doctor(trainer, args, { cwd: folder ?? process.cwd(), signal });
}

async function doctor(
  trainer: Trainer,
  args: readonly string[],
  options: { readonly cwd: string; readonly signal: AbortSignal | undefined },
): Promise<readonly Check[]> {
  const answer = await ask(trainer, ['doctor', ...args, '--json'], options);
  return parse(answer, examinationSchema, 'doctor').checks;
}

interface ClusterOptions {
  /** All nodes should see it under the same path. */
  readonly storage?: string;
  readonly signal?: AbortSignal;
}

/**
 * Checks each node by a job of no resources.
 * @param address the cluster's dashboard
 * @throws {Fault} `training/trainer-broken`
 */
export async function examineCluster(
  trainer: Trainer,
  address: string,
  { storage, signal }: ClusterOptions = {},
): Promise<readonly Check[]> {
  const on = storage === undefined ? [] : ['--storage', resolve(storage)];
  return doctor(trainer, ['--cluster', address, ...on], { cwd: process.cwd(), signal });
}

/**
 * Checks every field, and that the data suffice for the method.
 * @param from the name of the configuration for the user
 * @throws {Fault} `training/bad-configuration` with the trainer's sentence, `training/trainer-broken`
 */
export async function checkConfiguration(
  trainer: Trainer,
  folder: string,
  from: string,
  signal?: AbortSignal,
): Promise<TrainedOn> {
  const file = join(folder, runFiles.configuration);
  const answer = await ask(trainer, ['check', file, '--json'], { cwd: folder, signal });
  if (answer.code === 0) return parse(answer, trainedOnSchema(), 'check');
  if (answer.code !== WRONG_USE) throw brokenAnswer(answer, 'check');
  throw new Fault('training/bad-configuration', sentenceOf(answer).replaceAll(file, from));
}

/** @throws {Fault} `training/bad-configuration`, `training/no-plan` */
export async function planOf(
  trainer: Trainer,
  folder: string,
  from: string,
  signal?: AbortSignal,
): Promise<Plan> {
  const file = join(folder, runFiles.configuration);
  const answer = await ask(trainer, ['plan', file, '--json'], { cwd: folder, signal });
  // A plan that does not fit has status 1, and is printed, too.
  if (answer.stdout.trim() !== '') return parse(answer, planSchema, 'plan');
  throw refusedPlan(sentenceOf(answer), { usage: answer.code === WRONG_USE, file, from });
}

/**
 * @param refused.usage true if the configuration or its data are to blame
 * @param refused.from the name of the file for the user
 */
export function refusedPlan(
  sentence: string,
  refused: { readonly usage: boolean; readonly file: string; readonly from: string },
): Fault {
  const code = refused.usage ? 'training/bad-configuration' : 'training/no-plan';
  return new Fault(code, sentence.replaceAll(refused.file, refused.from));
}

function parse<T>(answer: TrainerAnswer, schema: z.ZodType<T>, command: string): T {
  try {
    return schema.parse(JSON.parse(answer.stdout));
  } catch (cause) {
    throw brokenAnswer(answer, command, cause);
  }
}

/** For an answer that the trainer could not explain in a sentence of its own. */
export function brokenAnswer(answer: TrainerAnswer, command: string, cause?: unknown): Fault {
  const message = `The trainer's \`${command}\` ended with status ${answer.code}: ${sentenceOf(answer)}`;
  return new Fault('training/trainer-broken', message, { cause });
}
