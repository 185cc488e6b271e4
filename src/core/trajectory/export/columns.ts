import { samplingEntries } from '../../samplingSettings';

/**
 * What Hugging Face `datasets` must see in the first 10 MB of a file, from which it takes the columns: it refuses a later
 * row with another field, or with another type.
 */
export class SeenColumns {
  private readonly seen = new Set<string>();

  /** True if the row has a field, or a type in a field, that no earlier row has. */
  add(row: object): boolean {
    const before = this.seen.size;
    this.visit('', row);
    return this.seen.size > before;
  }

  private visit(path: string, value: unknown): void {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) {
      this.seen.add(`${path} list`);
      const items = value as readonly unknown[];
      // One of each kind of number stands for thousands of token ids.
      const numbers = [
        items.find(Number.isInteger),
        items.find((item) => typeof item === 'number' && !Number.isInteger(item)),
      ];
      for (const item of numbers) this.visit(`${path}[]`, item);
      for (const item of items) if (typeof item !== 'number') this.visit(`${path}[]`, item);
    } else if (typeof value === 'object') {
      this.seen.add(`${path} object`);
      for (const [name, member] of Object.entries(value))
        this.visit(`${path}${JSON.stringify(name)}`, member);
    } else {
      const isReal = typeof value === 'number' && !Number.isInteger(value);
      this.seen.add(`${path} ${isReal ? 'real' : typeof value}`);
    }
  }
}

const REAL = new Set([
  ...['reward', 'value', 'leak', 'advantage', 'survived'],
  ...samplingEntries.flatMap(([name, { type }]) => (type === 'number' ? [name] : [])),
]);
const WHOLE_FIELD = /"(\w+)":-?\d+(?=[,}])/g;
const REALS = /"logprobs":\[[^\]]*\]/g;
const WHOLE = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

/**
 * Writes whole numbers of columns of real ones as such: `1.0`, so that readers that look at some rows only know the type.
 * @param json text of a row; within a string, quotes are escaped, so that only fields are found
 */
export const withReals = (json: string): string =>
  json
    .replace(WHOLE_FIELD, (field, name: string) => (REAL.has(name) ? `${field}.0` : field))
    .replace(REALS, (list) =>
      list.replace(WHOLE, (number) => (/^-?\d+$/.test(number) ? `${number}.0` : number)),
    );
