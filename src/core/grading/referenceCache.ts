import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { messageOf } from '../fault';
import { errorSchema, questionSchema, valueSchema } from './outcome';
import type { CallOutcome } from './runner';
import { jsonOrUndefined } from '../json';
import { isUnfit, MB, readText } from '../regularFile';

export interface ReferenceOutputs {
  readonly calls: readonly CallOutcome[];
  readonly slowestMilliseconds: number;
}

/** Maximum number of outputs kept in memory, about 3 kB each. */
const maxInMemory = 4_000;

const fileSchema = z.object({
  slowestMilliseconds: z.number(),
  calls: z.array(
    z.discriminatedUnion('kind', [
      valueSchema.extend({
        milliseconds: z.number(),
        decision: z
          .object({ test: z.string(), level: z.int(), questions: z.array(questionSchema) })
          .exactOptional(),
      }),
      errorSchema,
      z.object({ kind: z.literal('timed-out') }),
    ]),
  ),
});

export interface CachePlace {
  readonly folder: string;
  /** Gets one sentence, once, when the folder cannot be used. */
  readonly onNotice: (sentence: string) => void;
}

/**
 * The last few thousand are kept in memory; those that last are also kept on disk if there is a folder. One that cannot
 * be used is passed over from then on, because no grade needs it.
 */
export class OutcomeCache {
  private readonly memory = new Map<string, ReferenceOutputs>();

  constructor(private place?: CachePlace) {}

  async get(key: string): Promise<ReferenceOutputs | undefined> {
    const known = this.memory.get(key) ?? (await this.read(key));
    if (known !== undefined) this.remember(key, known);
    return known;
  }

  async put(key: string, outputs: ReferenceOutputs): Promise<void> {
    this.remember(key, outputs);
    if (this.place === undefined || !outputs.calls.every(isLasting)) return;
    const file = fileIn(this.place.folder, key);
    // A temporary name, so that readers and other writers never see half a file.
    const unfinished = `${file}.${randomUUID()}`;
    try {
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(unfinished, JSON.stringify(outputs));
      await rename(unfinished, file);
    } catch (error) {
      this.giveUp(error);
    }
  }

  private remember(key: string, outputs: ReferenceOutputs): void {
    // A Map lists its keys in the order of insertion, so the first is the least recently used.
    this.memory.delete(key);
    this.memory.set(key, outputs);
    if (this.memory.size > maxInMemory) this.memory.delete(this.memory.keys().next().value!);
  }

  private async read(key: string): Promise<ReferenceOutputs | undefined> {
    if (this.place === undefined) return undefined;
    let text: string;
    try {
      text = await readText(fileIn(this.place.folder, key), 256 * MB);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      this.giveUp(error);
      return undefined;
    }
    // A damaged file counts as none: the reference is run again and the file replaced.
    const parsed = fileSchema.safeParse(jsonOrUndefined(text));
    return parsed.success ? parsed.data : undefined;
  }

  private giveUp(error: unknown): void {
    if (!isUnfit(error) && !(error instanceof Error && 'syscall' in error)) throw error;
    const { place } = this;
    this.place = undefined;
    place?.onNotice(
      `References are run again in each session, because their outputs cannot be kept in ${place.folder}: ${messageOf(error)}.`,
    );
  }
}

const fileIn = (folder: string, key: string): string => join(folder, key.slice(0, 2), `${key}.json`);

/** A time-out or a crash may be due to the day or the machine, so it is not kept on disk. */
function isLasting(outcome: CallOutcome): boolean {
  if (outcome.kind === 'timed-out') return false;
  return outcome.kind !== 'error' || outcome.type !== 'InterpreterCrash';
}
