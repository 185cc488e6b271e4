import { afterAll, beforeAll, expect, test } from 'vitest';
import { growing, readers, shapes, stream, type Shape } from '../../fixtures/foreign-text';
import { MAX_LINE_CHARS } from '../../../src/core/dialogue/markers';
import { StepCounter } from '../../fixtures/steps';

const SMALL = 300;
const LARGE = 1_200;
/** Allowed growth of the steps for a text four times as long: 4, plus some for other line ends. */
const GROWTH = 5;
/** Allowance for steps that do not depend on the text. */
const ANYWAY = 1_000;

let counter: StepCounter;
beforeAll(() => {
  counter = new StepCounter();
});
afterAll(() => counter[Symbol.dispose]());

/** Shapes that are counted together, because counting is slow; if their sum grows too fast, each is counted alone. */
const TOGETHER = 6;

/** Number of reads of a text before its steps are counted alone. */
const WARM = 3;
/** Number of counts of a text alone. */
const COUNTS = 5;

/** Returns the shapes whose steps grow faster than the text, with both numbers of steps. */
function growsFaster(small: number, large: number, read: (text: string) => unknown): string[] {
  const larger = new Map([...shapes(large)].map(({ name, text }) => [name, text]));
  // V8 counts fewer blocks in compiled code than in interpreted code, and switches at any time. So a shape grows too
  // fast only if the fewest steps of the large text exceed the limit for the most steps of the small text.
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

/** Size of a streamed text. Up to this length, a reader may scan the beginning of a line again for each piece. */
const SMALL_STREAM = MAX_LINE_CHARS;
const LARGE_STREAM = 4 * MAX_LINE_CHARS;

test.each(Object.entries(growing))(
  '%s is read while it arrives, and earlier pieces cost nothing more',
  (_, begin) => {
    expect(growsFaster(SMALL_STREAM, LARGE_STREAM, (text) => stream(text, begin()))).toEqual([]);
  },
);
