import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Advantages } from '../../evaluation/agreement';
import { ifThere, writeAtomically } from '../../trajectory/files';
import { creditSchema, type Credit, type Scorable } from './credit';

/**
 * What critics said of dialogues, `index/credit/<critic>/` in the data folder: made from the log, so that it may be
 * removed at any time, and goes with the index when a developer's data are erased.
 */
export class CreditCache {
  readonly #folder: string;
  /** The files that were read for their advantages; no window but this one writes a file again. */
  readonly #known = new Map<string, Credit>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'index', 'credit');
  }

  /** Undefined when the critic has not read this dialogue, or has read it when it was another one. */
  async read(critic: string, { episode, of }: Pick<Scorable, 'episode' | 'of'>): Promise<Credit | undefined> {
    const credit = await creditIn(join(this.#folder, critic, fileOf(episode)));
    return credit?.critic === critic && credit.episode === episode && credit.of === of ? credit : undefined;
  }

  async write(credit: Credit): Promise<void> {
    const file = join(this.#folder, credit.critic, fileOf(credit.episode));
    await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(credit)));
    this.#known.set(file, credit);
  }

  /** Of every dialogue that the critic has read. */
  async advantages(critic: string): Promise<Advantages> {
    const folder = join(this.#folder, critic);
    const names = (await ifThere(() => readdir(folder))) ?? [];
    const found = new Map<string, ReadonlyMap<number, number>>();
    for (const name of names.filter((one) => one.endsWith('.json'))) {
      const file = join(folder, name);
      const credit = this.#known.get(file) ?? (await creditIn(file));
      if (credit === undefined) continue;
      this.#known.set(file, credit);
      const turns = credit.turns.map(({ turn, advantage }) => [turn, advantage ?? 0] as const);
      found.set(credit.episode, new Map(turns));
    }
    return found;
  }
}

/** An episode may be called anything, a file may not. */
const fileOf = (episode: string): string =>
  `${createHash('sha256').update(episode).digest('hex').slice(0, 32)}.json`;

/** What is damaged is only computed anew. */
async function creditIn(file: string): Promise<Credit | undefined> {
  const text = await ifThere(() => readFile(file, 'utf8'));
  if (text === undefined) return undefined;
  try {
    return creditSchema.safeParse(JSON.parse(text)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
