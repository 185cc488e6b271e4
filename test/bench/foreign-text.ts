/**
 * Fuzzes all readers of foreign text with large texts that repeat random pieces. Prints the slowest, and fails when one
 * exceeds linear time or throws anything but a sentence for the user.
 *
 *   node test/bench/run.mjs foreign-text [--texts N] [--seed N | --random]
 */
import { parseArgs } from 'node:util';
import { Fault } from '../../src/core/fault';
import { mulberry32 } from '../../src/core/random';
import { pieces, readers } from '../fixtures/foreign-text';

const CHARACTERS = 30_000;
/** Limit in seconds; linear readers take a hundredth of it, others minutes. */
const MAX_SECONDS = 5;

const { values } = parseArgs({
  options: {
    texts: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    random: { type: 'boolean', default: false },
  },
});
const seed = values.random ? Date.now() % 2 ** 31 : Number(values.seed);
const random = mulberry32(seed);
const below = (count: number): number => Math.floor(random() * count);
const drawn = (most: number): string =>
  Array.from({ length: 1 + below(most) }, () => pieces[below(pieces.length)]!).join('');

console.log(
  `Seed ${seed}, ${values.texts} texts of ${CHARACTERS} characters for each of ${Object.keys(readers).length} readers.`,
);
const taken: { readonly seconds: number; readonly what: string }[] = [];
for (let count = 0; count < Number(values.texts); count += 1) {
  const [head, piece] = [drawn(3), drawn(3)];
  const text = head + piece.repeat(Math.ceil(CHARACTERS / piece.length)) + drawn(3);
  for (const [name, read] of Object.entries(readers)) {
    const what = `${name}: ${JSON.stringify(head)} and many of ${JSON.stringify(piece)}`;
    const before = process.cpuUsage().user;
    try {
      read(text);
    } catch (error) {
      if (!(error instanceof Fault)) throw new Error(`It throws. ${what}`, { cause: error });
    }
    taken.push({ seconds: (process.cpuUsage().user - before) / 1e6, what });
  }
}
taken.sort((one, other) => other.seconds - one.seconds);
for (const { seconds, what } of taken.slice(0, 5)) console.log(`${seconds.toFixed(2)} s  ${what}`);
if (taken.some(({ seconds }) => seconds > MAX_SECONDS)) process.exitCode = 1;
