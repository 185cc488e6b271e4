import { afterAll, beforeAll, expect, test } from 'vitest';
import { readers, shapes } from '../../fixtures/foreign-text';
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

test.each(Object.entries(readers))('%s is read in steps that grow no faster than it', (_, read) => {
  const large = new Map([...shapes(LARGE)].map(({ name, text }) => [name, text]));
  const faster = [...shapes(SMALL)].flatMap(({ name, text }) => {
    const few = counter.count(() => read(text));
    const many = counter.count(() => read(large.get(name)!));
    return many > GROWTH * few + ANYWAY ? [`${name}: ${few} and ${many} steps`] : [];
  });
  expect(faster).toEqual([]);
});
