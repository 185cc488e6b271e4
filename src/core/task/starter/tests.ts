import type { Random } from './draw';
import { OPTIONS, type DecisionKind, type DecisionValues } from './kinds';
import { RECKONINGS, resultOf, type FunctionForm, type Input } from './program';

const TESTS = 10;
const CANDIDATES = 60;
/** The rates are binary fractions, so that amounts are exact. */
const RATES = [0.5, 0.75, 1.25, 1.5, 1.75, 2.25, 2.5, 3.25];
const BASES = [1.5, 2, 2.5];
const LARGEST_QUANTITY = 64;
/** Minimum number of different results; with fewer a constant would come too near. */
const FEWEST_RESULTS = 4;

/**
 * Finds ten different calls on which any single decision, taken otherwise or left out, gives another result somewhere,
 * and on which all programs with these decisions agree. Returns undefined when chance found none.
 */
export function findTests(form: FunctionForm, values: DecisionValues, random: Random): Input[] | undefined {
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

/** Yields these values with one decision taken otherwise or left out. */
function* neighbours(values: DecisionValues): Generator<DecisionValues> {
  for (const kind of Object.keys(values) as DecisionKind[]) {
    for (const option of OPTIONS[kind]) if (option !== values[kind]) yield { ...values, [kind]: option };
    // When left out, these two mean one of their options.
    if (kind !== 'strictness' && kind !== 'order') yield { ...values, [kind]: undefined };
  }
}

function drawInput(form: FunctionForm, values: DecisionValues, random: Random): Input {
  const quantity = drawQuantity(values, random);
  return {
    quantity: form === 'list' ? split(quantity, random) : [quantity],
    rate: random.pick(RATES),
    base: form === 'base' ? random.pick(BASES) : 0,
  };
}

/** Draws nothing, a few, a quantity around what the decisions speak of, or any. */
function drawQuantity(values: DecisionValues, random: Random): number {
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

/** Tells whether everybody who knows the decisions gets the same result here. */
function isClear(form: FunctionForm, values: DecisionValues, input: Input): boolean {
  const result = resultOf(form, values, input);
  const agrees = (other: DecisionValues): boolean =>
    RECKONINGS.every((reckoning) => resultOf(form, other, input, reckoning) === result);
  const undecided = values.threshold !== undefined && values.strictness === undefined;
  return agrees(values) && (!undecided || agrees({ ...values, strictness: '>=' }));
}

const distinct = (inputs: readonly Input[]): Input[] => [
  ...new Map(inputs.map((input) => [JSON.stringify(input), input])).values(),
];
