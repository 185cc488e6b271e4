import { afterAll, beforeAll, expect, test } from 'vitest';
import { growing, readers, shapes, stream, type Shape } from '../../fixtures/foreign-text';
import { LONGEST_LINE } from '../../../src/core/dialogue/markers';
import { StepCounter } from '../../fixtures/steps';

const SMALL = 300;
const LARGE = 1_200;
/** What a text four times as long may take: four times the steps, and something for lines that end elsewhere. */
const GROWTH = 5;
/** Steps that do not depend on the text. */
const ANYWAY = 1_000;

let counter: StepCounter;
beforeAll(() => {
  counter = new StepCounter();
});
afterAll(() => counter[Symbol.dispose]());

/** Counting takes far longer than reading, so shapes are counted together, and each alone where their sum has grown too fast. */
const TOGETHER = 6;

/** A text is read so often before its steps are counted alone. */
const WARM = 3;
/** They are counted so often then. */
const COUNTS = 5;

/** Of which shapes the steps grow faster than the text, and how many they are. */
function growsFaster(small: number, large: number, read: (text: string) => unknown): string[] {
  const larger = new Map([...shapes(large)].map(({ name, text }) => [name, text]));
  // V8 counts fewer blocks of code that it has compiled, more when it falls back to interpreting it, and it does either
  // when it likes. So a shape has grown too fast only when the most steps of the small text and the fewest of the large
  // one say so.
  const warm = ({ name, text }: Shape): void => {
    for (let time = 0; time < WARM; time += 1)
      for (const one of [text, larger.get(name)!]) counter.count(() => read(one));
  };
  const grown = (texts: readonly Shape[]): string[] => {
    const isAlone = texts.length === 1;
    if (isAlone) warm(texts[0]!);
    const counts = (count: () => number): number[] => Array.from({ length: isAlone ? COUNTS : 1 }, count);
    const few = Math.max(...counts(() => counter.count(() => texts.forEach(({ text }) => read(text)))));
    const many = Math.min(
      ...counts(() => counter.count(() => texts.forEach(({ name }) => read(larger.get(name)!)))),
    );
    if (many <= GROWTH * few + ANYWAY) return [];
    if (!isAlone) return texts.flatMap((shape) => grown([shape]));
    return [`${texts[0]!.name}: ${few} and ${many} steps`];
  };
  const all = [...shapes(small)];
  const groups = Array.from({ length: Math.ceil(all.length / TOGETHER) }, (_, index) =>
    all.slice(index * TOGETHER, (index + 1) * TOGETHER),
  );
  return groups.flatMap(grown);
}

test.each(Object.entries(readers))('%s is read in steps that grow no faster than it', (_, read) => {
  expect(growsFaster(SMALL, LARGE, read)).toEqual([]);
});

/** The beginning of a line that decides whether a marker stands in it may be looked at for each piece. */
const SMALL_STREAM = LONGEST_LINE;
const LARGE_STREAM = 4 * LONGEST_LINE;

test.each(Object.entries(growing))(
  '%s is read while it arrives, and earlier pieces cost nothing more',
  (_, begin) => {
    expect(growsFaster(SMALL_STREAM, LARGE_STREAM, (text) => stream(text, begin()))).toEqual([]);
  },
);
