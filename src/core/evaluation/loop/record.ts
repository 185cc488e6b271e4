import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { Fault, messageOf } from '../../fault';
import { MB, readText } from '../../regularFile';
import { ifThere, writeAtomically } from '../../trajectory/files';

/** The order in which they are done. */
export const STAGES = ['tasks', 'collect', 'train', 'export', 'evaluate', 'report'] as const;
export type StageName = (typeof STAGES)[number];

/** Each input is compared by the digest of its JSON. */
type Inputs = Readonly<Record<string, unknown>>;

const finishedSchema = z.object({
  inputs: z.record(z.string(), z.string()),
  /** Time of completion (ISO 8601, UTC), and seconds that it took, without the work of an earlier call. */
  at: z.string(),
  seconds: z.number(),
  result: z.unknown(),
});
type Finished = z.infer<typeof finishedSchema>;

const recordSchema = z.object({
  version: z.literal(1),
  stages: z.partialRecord(z.enum(STAGES), finishedSchema),
});

export interface Stage<T> {
  readonly name: StageName;
  readonly inputs: Inputs;
  readonly result: z.ZodType<T>;
  /** A person may have deleted the stage's files. */
  readonly isThere?: (result: T) => Promise<boolean>;
  readonly work: () => Promise<T>;
}

export interface Done<T> {
  readonly result: T;
  /** Nothing that it depends on has changed, so it was not done again. */
  readonly isSkipped: boolean;
  readonly seconds: number;
}

/** `loop.json` of a loop's folder: the inputs and the result of each stage. */
const MAX_RECORD_BYTES = 64 * MB;

export class LoopRecord {
  private constructor(
    private readonly file: string,
    private stages: Readonly<Partial<Record<StageName, Finished>>>,
  ) {}

  /** @throws {Fault} `loop/bad-record` when the file is no record */
  static async open(folder: string): Promise<LoopRecord> {
    const file = join(folder, 'loop.json');
    const text = await ifThere(() => readText(file, MAX_RECORD_BYTES));
    if (text === undefined) return new LoopRecord(file, {});
    try {
      return new LoopRecord(file, recordSchema.parse(JSON.parse(text)).stages);
    } catch (cause) {
      const message = `${file} cannot be read (${messageOf(cause).split('\n')[0]!}). Delete it: every stage is then looked at again, and no dialogue is lost.`;
      throw new Fault('loop/bad-record', message, { cause });
    }
  }

  /** Follows "because" in a sentence; undefined when no input has changed. */
  private reason(name: StageName, inputs: Readonly<Record<string, string>>): string | undefined {
    const before = this.stages[name]?.inputs;
    if (before === undefined) return 'it has not been done yet';
    const names = [...new Set([...Object.keys(before), ...Object.keys(inputs)])];
    const changed = names.filter((input) => before[input] !== inputs[input]);
    return changed.length === 0 ? undefined : `${changed.join(' and ')} changed`;
  }

  /**
   * Skips a stage that was done with the same inputs if its result still exists. A stage is recorded when its work is
   * done, so an interrupted one is done again; the work itself decides how much of it is left then.
   * @param onStart called with the reason before the work begins
   */
  async perform<T>(stage: Stage<T>, onStart: (reason: string) => void): Promise<Done<T>> {
    const { name } = stage;
    const inputs = digests(stage.inputs);
    const reason = this.reason(name, inputs);
    const kept = reason === undefined ? await this.kept(stage) : undefined;
    if (kept !== undefined) return { ...kept, isSkipped: true };
    onStart(reason ?? 'what it made is gone');
    const started = performance.now();
    const result = await stage.work();
    const seconds = (performance.now() - started) / 1000;
    this.stages = {
      ...this.stages,
      [name]: { inputs, at: new Date().toISOString(), seconds, result },
    };
    const text = `${JSON.stringify({ version: 1, stages: this.stages }, undefined, 2)}\n`;
    await writeAtomically(this.file, text);
    return { result, isSkipped: false, seconds };
  }

  private async kept<T>({
    name,
    result,
    isThere,
  }: Stage<T>): Promise<{ readonly result: T; readonly seconds: number } | undefined> {
    const finished = this.stages[name];
    const parsed = result.safeParse(finished?.result);
    if (finished === undefined || !parsed.success) return undefined; // written by another version of Tandem
    const isKept = isThere === undefined || (await isThere(parsed.data));
    return isKept ? { result: parsed.data, seconds: finished.seconds } : undefined;
  }
}

const digests = (inputs: Inputs): Record<string, string> =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, digestOf(value)]));

/** Equal for values with the same JSON. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('hex')
    .slice(0, 16);
}

// Results of stages in `loop.json`. Paths are relative to the loop's folder.

export const collectedSchema = z.object({
  collection: z.string(),
  dialogues: z.number(),
  successes: z.number(),
});
export type Collected = z.infer<typeof collectedSchema>;

export const trainedSchema = z.object({ run: z.string() });
export type TrainedRun = z.infer<typeof trainedSchema>;

export const exportedSchema = z.object({ precision: z.enum(['fp32', 'int8', 'int4']) });
export type Exported = z.infer<typeof exportedSchema>;

export const reportedSchema = z.object({ report: z.string() });
export type Reported = z.infer<typeof reportedSchema>;
