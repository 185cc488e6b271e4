import { afterAll, beforeAll, expect, test } from 'vitest';
import { readers, shapes, type Shape } from '../../fixtures/foreign-text';
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

test.each(Object.entries(readers))('%s is read in steps that grow no faster than it', (_, read) => {
  const large = new Map([...shapes(LARGE)].map(({ name, text }) => [name, text]));
  const grown = (texts: readonly Shape[]): string[] => {
    const few = counter.count(() => texts.forEach(({ text }) => read(text)));
    const many = counter.count(() => texts.forEach(({ name }) => read(large.get(name)!)));
    if (many <= GROWTH * few + ANYWAY) return [];
    if (texts.length > 1) return texts.flatMap((shape) => grown([shape]));
    return [`${texts[0]!.name}: ${few} and ${many} steps`];
  };
  const small = [...shapes(SMALL)];
  const groups = Array.from({ length: Math.ceil(small.length / TOGETHER) }, (_, index) =>
    small.slice(index * TOGETHER, (index + 1) * TOGETHER),
  );
  expect(groups.flatMap(grown)).toEqual([]);
});
