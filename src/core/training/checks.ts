import { join } from 'node:path';
import * as z from 'zod';
import { Fault } from '../fault';
import { examplesSchema, shortageSchema, trainedOnSchema, type TrainedOn } from './data/trainedOn';
import { runFiles } from './runFolder';
import { ask, sentenceOf, type Answer, type Trainer, WRONG_USE } from './trainer';

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

/** The machine cannot train as it is; each check says what was run, what was seen, and how to mend it. */
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
    /** Memory that each process may plan with; null when nobody knows how much there is. */
    usable: z.number().nullable(),
    /** Whether the times are from a step of this model on this device. */
    measured: z.boolean(),
    /** That train the run; plans of before did not tell. */
    processes: z.number().default(1),
  }),
  training: z.string(),
  fits: z.boolean(),
  token_budget: z.number(),
  checkpoint_activations: z.boolean(),
  /** Memory of each process at the worst moment. */
  needed: z.number(),
  disk: z.number(),
  /** Tokens of the largest example, and of the largest that would fit. */
  largest: z.number(),
  room: z.number(),
  /** Of each stage; null when nobody knows. */
  seconds: z.record(z.string(), z.number().nullable()),
  total_seconds: z.number().nullable(),
  /** What to change, most helpful first. */
  advice: z.array(z.string()),
  /** What is trained on, as the tokenizer of the model reads it. */
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
/** What a run needs, what was chosen for it, whether that fits, and how long it takes. */
export type Plan = z.infer<typeof planSchema>;

export interface ExamineOptions {
  /** A run folder: its disk is looked at, and what its run.json needs. */
  readonly folder?: string;
  /** The packages are imported and the device computes, even if nothing has changed since they last did. */
  readonly again?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Looks at the interpreter, the packages, the device, its driver, the disk. Takes as long as importing torch does, and a
 * moment where the packages and the device were found whole before and have not changed.
 * @throws {Fault} `training/trainer-broken`
 */
export async function examine(
  trainer: Trainer,
  { folder, again = false, signal }: ExamineOptions = {},
): Promise<readonly Check[]> {
  const run = folder === undefined ? [] : [join(folder, runFiles.configuration)];
  const found = trainer.found === undefined ? [] : ['--found', trainer.found];
  const given = [...run, '--json', ...found, ...(again ? ['--again'] : [])];
  const answer = await ask(trainer, ['doctor', ...given], { cwd: folder ?? process.cwd(), signal });
  return parse(answer, examinationSchema, 'doctor').checks;
}

/**
 * The trainer's own check of a run.json: every field, and whether the data hold what the method needs.
 * @param from how the user calls the configuration
 * @returns what the data come to
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
  // A plan that does not fit is one as well, with status 1.
  if (answer.stdout.trim() !== '') return parse(answer, planSchema, 'plan');
  throw refusedPlan(sentenceOf(answer), { usage: answer.code === WRONG_USE, file, from });
}

/**
 * @param refused.usage whether the configuration or its data are to blame
 * @param refused.from how the user calls the file
 */
export function refusedPlan(
  sentence: string,
  refused: { readonly usage: boolean; readonly file: string; readonly from: string },
): Fault {
  const code = refused.usage ? 'training/bad-configuration' : 'training/no-plan';
  return new Fault(code, sentence.replaceAll(refused.file, refused.from));
}

function parse<T>(answer: Answer, schema: z.ZodType<T>, command: string): T {
  try {
    return schema.parse(JSON.parse(answer.stdout));
  } catch (cause) {
    throw brokenAnswer(answer, command, cause);
  }
}

/** The trainer ends with a sentence of its own whenever it can; this is when it could not. */
export function brokenAnswer(answer: Answer, command: string, cause?: unknown): Fault {
  const message = `The trainer's \`${command}\` ended with status ${answer.code}: ${sentenceOf(answer)}`;
  return new Fault('training/trainer-broken', message, { cause });
}
