import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Advantages } from './credit';
import { jsonOrUndefined } from '../../json';
import { isUnfit, MB, readText } from '../../regularFile';
import { ifThere, writeAtomically } from '../../trajectory/files';
import { creditSchema, type Credit, type Scorable } from './credit';

/**
 * `index/credit/<critic>/` in the data folder. Computed from the log: may be removed at any time, and is removed with
 * the index when a developer's data are erased.
 */
export class CreditCache {
  readonly #folder: string;
  /** Files that were read already; only this window changes them. */
  readonly #known = new Map<string, Credit>();

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, 'index', 'credit');
  }

  /** Undefined when the critic has not scored this dialogue, or the dialogue has changed since. */
  async read(critic: string, { episode, of }: Pick<Scorable, 'episode' | 'of'>): Promise<Credit | undefined> {
    const credit = await creditIn(join(this.#folder, critic, fileOf(episode)));
    return credit?.critic === critic && credit.episode === episode && credit.of === of ? credit : undefined;
  }

  async write(credit: Credit): Promise<void> {
    const file = join(this.#folder, credit.critic, fileOf(credit.episode));
    await writeAtomically(file, (handle) => handle.writeFile(JSON.stringify(credit)));
    this.#known.set(file, credit);
  }

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

/** Hashed, because an id may hold characters that a file name must not. */
const fileOf = (episode: string): string =>
  `${createHash('sha256').update(episode).digest('hex').slice(0, 32)}.json`;

/** Undefined for a damaged file, which is then computed again. */
async function creditIn(file: string): Promise<Credit | undefined> {
  const text = await ifThere(() => readText(file, 16 * MB)).catch((error: unknown) => {
    if (isUnfit(error)) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  return creditSchema.safeParse(jsonOrUndefined(text)).data;
}
