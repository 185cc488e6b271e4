import type { Random } from './draw';
import { OPTIONS, type Kind, type Values } from './kinds';
import { RECKONINGS, resultOf, type Form, type Input } from './program';

const TESTS = 10;
const CANDIDATES = 60;
/** Binary fractions, so that amounts are exact. */
const RATES = [0.5, 0.75, 1.25, 1.5, 1.75, 2.25, 2.5, 3.25];
const BASES = [1.5, 2, 2.5];
const LARGEST_QUANTITY = 64;
/** Fewer different results would let a constant come too near. */
const FEWEST_RESULTS = 4;

/**
 * Ten different calls on which any single decision, taken otherwise or left out, gives another result somewhere, and on which all
 * programs with these decisions agree. Undefined when chance found none.
 */
export function findTests(form: Form, values: Values, random: Random): Input[] | undefined {
  const candidates = distinct(
    Array.from({ length: CANDIDATES }, () => drawInput(form, values, random)),
  ).filter((input) => isClear(form, values, input));
  const expected = candidates.map((input) => resultOf(form, values, input));
  const chosen = new Set<number>();
  for (const other of neighbours(values)) {
    const telling = candidates.flatMap((input, i) =>
      resultOf(form, other, input) === expected[i] ? [] : [i],
    );
    if (telling.length === 0) return undefined;
    if (!telling.some((i) => chosen.has(i))) chosen.add(random.pick(telling));
  }
  const rest = random.shuffled(candidates.map((_, i) => i).filter((i) => !chosen.has(i)));
  const tests = random.shuffled([...chosen, ...rest.slice(0, Math.max(0, TESTS - chosen.size))]);
  const results = new Set(tests.map((i) => expected[i]));
  if (tests.length !== TESTS || results.size < FEWEST_RESULTS) return undefined;
  return tests.map((i) => candidates[i]!);
}

/** These values with one decision taken otherwise or left out. */
function* neighbours(values: Values): Generator<Values> {
  for (const kind of Object.keys(values) as Kind[]) {
    for (const option of OPTIONS[kind]) if (option !== values[kind]) yield { ...values, [kind]: option };
    // Left out, these two mean one of their options.
    if (kind !== 'strictness' && kind !== 'order') yield { ...values, [kind]: undefined };
  }
}

function drawInput(form: Form, values: Values, random: Random): Input {
  const quantity = drawQuantity(values, random);
  return {
    quantity: form === 'list' ? split(quantity, random) : [quantity],
    rate: random.pick(RATES),
    base: form === 'base' ? random.pick(BASES) : 0,
  };
}

/** Nothing, few, around what the decisions speak of, or any. */
function drawQuantity(values: Values, random: Random): number {
  const chance = random.number();
  if (chance < 0.1 && values.empty !== undefined) return 0;
  if (chance < 0.25) return 1 + random.below(6);
  if (chance < 0.5) {
    const edge = Number(values.threshold ?? values.free ?? 10);
    return Math.max(1, edge - 2 + random.below(5));
  }
  return 1 + random.below(LARGEST_QUANTITY);
}

function split(quantity: number, random: Random): number[] {
  const parts: number[] = [];
  for (let rest = quantity; rest > 0;) {
    const part = parts.length === 3 ? rest : 1 + random.below(rest);
    parts.push(part);
    rest -= part;
  }
  return parts;
}

/** Whether everybody who knows the decisions gets the same result here. */
function isClear(form: Form, values: Values, input: Input): boolean {
  const result = resultOf(form, values, input);
  const agrees = (other: Values): boolean =>
    RECKONINGS.every((reckoning) => resultOf(form, other, input, reckoning) === result);
  const undecided = values.threshold !== undefined && values.strictness === undefined;
  return agrees(values) && (!undecided || agrees({ ...values, strictness: '>=' }));
}

const distinct = (inputs: readonly Input[]): Input[] => [
  ...new Map(inputs.map((input) => [JSON.stringify(input), input])).values(),
];
