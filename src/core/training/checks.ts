import { join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../fault';
import { runFiles } from './runFolder';
import { ask, sentenceOf, type Answer, type Trainer } from './trainer';

/** One thing that `doctor` looked at. */
const checkSchema = z.looseObject({
  name: z.string(),
  status: z.enum(['ok', 'warning', 'failed']),
  /** What was run, what was seen, and how to mend it. */
  command: z.string(),
  saw: z.string(),
  remedy: z.string().optional(),
});
export type Check = z.infer<typeof checkSchema>;

const examinationSchema = z.looseObject({
  version: z.number(),
  ok: z.boolean(),
  checks: z.array(checkSchema),
});

const planSchema = z.looseObject({});
/** What fits, how long it takes and what was chosen; its fields are the trainer's. */
export type Plan = z.infer<typeof planSchema>;

export interface ExamineOptions {
  /** A run folder: its disk is looked at, and what its run.json needs. */
  readonly folder?: string;
  readonly signal?: AbortSignal;
}

/**
 * Looks at the interpreter, the packages, the device, its driver, the disk. Takes as long as importing torch does.
 * @throws {Fault} `training/trainer-broken`
 */
export async function examine(
  trainer: Trainer,
  { folder, signal }: ExamineOptions = {},
): Promise<readonly Check[]> {
  const run = folder === undefined ? [] : [join(folder, runFiles.configuration)];
  const answer = await ask(trainer, ['doctor', ...run, '--json'], { cwd: folder ?? process.cwd(), signal });
  return parse(answer, examinationSchema, 'doctor').checks;
}

/**
 * The trainer's own check of a run.json: every field, and whether the files are there.
 * @param from how the user calls the configuration
 * @throws {Fault} `training/bad-configuration` with the trainer's sentence, `training/trainer-broken`
 */
export async function checkConfiguration(
  trainer: Trainer,
  folder: string,
  from: string,
  signal?: AbortSignal,
): Promise<void> {
  const file = join(folder, runFiles.configuration);
  const answer = await ask(trainer, ['check', file], { cwd: folder, signal });
  if (answer.code === 0) return;
  if (answer.code !== WRONG_USE) throw broken(answer, 'check');
  throw new Fault('training/bad-configuration', sentenceOf(answer).replaceAll(file, from));
}

/** @throws {Fault} `training/bad-configuration`, `training/no-plan` */
export async function planOf(trainer: Trainer, folder: string, signal?: AbortSignal): Promise<Plan> {
  const file = join(folder, runFiles.configuration);
  const answer = await ask(trainer, ['plan', file, '--json'], { cwd: folder, signal });
  if (answer.code === 0) return parse(answer, planSchema, 'plan');
  const code = answer.code === WRONG_USE ? 'training/bad-configuration' : 'training/no-plan';
  throw new Fault(code, sentenceOf(answer));
}

const WRONG_USE = 2;

function parse<T>(answer: Answer, schema: z.ZodType<T>, command: string): T {
  try {
    return schema.parse(JSON.parse(answer.stdout));
  } catch (cause) {
    throw broken(answer, command, cause);
  }
}

/** The trainer ends with a sentence of its own whenever it can; this is when it could not. */
function broken(answer: Answer, command: string, cause?: unknown): Fault {
  const message = `The trainer's \`${command}\` ended with status ${answer.code}: ${sentenceOf(answer)}`;
  return new Fault('training/trainer-broken', message, { cause });
}
