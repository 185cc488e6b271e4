import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { creditSchema, type Credit, type Scorable, type Advantages } from './credit';
import { messageOf } from '../../fault';
import { jsonOrUndefined } from '../../json';
import { isUnfit, MB, readText } from '../../regularFile';
import { ifThere, writeAtomically } from '../../trajectory/files';

/**
 * `index/credit/<critic>/` in the data folder. Computed from the log: may be removed at any time, and is removed with
 * the index when a developer's data are erased.
 */
export class CreditCache {
  readonly #folder: string;
  /** Files that were read already; only this window changes them. */
  readonly #known = new Map<string, Credit>();
  #isUsable = true;

  /** @param onNotice gets one sentence, once, when the folder cannot be used: then scores are kept in memory */
  constructor(
    dataFolder: string,
    private readonly onNotice: (sentence: string) => void,
  ) {
    this.#folder = join(dataFolder, 'index', 'credit');
  }

  /** Undefined when the critic has not scored this dialogue, or the dialogue has changed since. */
  async read(critic: string, { episode, of }: Pick<Scorable, 'episode' | 'of'>): Promise<Credit | undefined> {
    const credit = await this.#creditIn(join(this.#folder, critic, fileOf(episode)));
    return credit?.critic === critic && credit.episode === episode && credit.of === of ? credit : undefined;
  }

  async write(credit: Credit): Promise<void> {
    const file = join(this.#folder, credit.critic, fileOf(credit.episode));
    this.#known.set(file, credit);
    await this.#ifUsable(() => writeAtomically(file, JSON.stringify(credit)));
  }

  async advantages(critic: string): Promise<Advantages> {
    const folder = join(this.#folder, critic);
    const names = (await this.#ifUsable(() => ifThere(() => readdir(folder)))) ?? [];
    const files = names.filter((one) => one.endsWith('.json')).map((name) => join(folder, name));
    const known = [...this.#known.keys()].filter((file) => dirname(file) === folder);
    const found = new Map<string, ReadonlyMap<number, number>>();
    for (const file of new Set([...files, ...known])) {
      const credit = this.#known.get(file) ?? (await this.#creditIn(file));
      if (credit === undefined) continue;
      this.#known.set(file, credit);
      const turns = credit.turns.map(({ turn, advantage }) => [turn, advantage ?? 0] as const);
      found.set(credit.episode, new Map(turns));
    }
    return found;
  }

  /** Undefined for a damaged file, which is then computed again. */
  async #creditIn(file: string): Promise<Credit | undefined> {
    const text = await this.#ifUsable(() => ifThere(() => readText(file, 16 * MB)));
    return text === undefined ? this.#known.get(file) : creditSchema.safeParse(jsonOrUndefined(text)).data;
  }

  async #ifUsable<T>(use: () => Promise<T>): Promise<T | undefined> {
    if (!this.#isUsable) return undefined;
    try {
      return await use();
    } catch (error) {
      if (!isUnfit(error) && !(error instanceof Error && 'syscall' in error)) throw error;
      this.#isUsable = false;
      this.onNotice(
        `Critics score turns again in each window, because scores cannot be kept in ${this.#folder}: ${messageOf(error)}.`,
      );
      return undefined;
    }
  }
}

/** Hashed, because an id may hold characters that a file name must not. */
const fileOf = (episode: string): string =>
  `${createHash('sha256').update(episode).digest('hex').slice(0, 32)}.json`;
