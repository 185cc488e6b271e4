import type { Fact, ProgramTask } from '../task';
import { DOMAINS, type Domain } from './domains';
import { Random, withoutRepeats } from './draw';
import {
  fitTogether,
  KINDS,
  OPTIONS,
  type DecisionKind,
  type Value,
  type DecisionValues,
  callOf,
  FORMS,
  signatureOf,
  sourceOf,
  type FunctionForm,
  type Shape,
  RECKONINGS,
  resultOf,
  type Input,
} from './program';
import { contentId, hash, splitOf, type Split } from './splits';
import { answersFor, ARGUMENTS, IDLE_QUESTIONS, inWordsOf, QUESTIONS, TOPICS } from './words';

export { KINDS, type DecisionKind } from './program';
export { SPLITS, type Split } from './splits';
export { VAGUE_QUESTIONS } from './words';

/** Minimum and maximum number of decisions of a task, and the share of them that its description hints at. */
export const DIFFICULTIES = {
  gentle: { fewest: 2, most: 3, cued: 0.85 },
  standard: { fewest: 2, most: 4, cued: 0.5 },
  hard: { fewest: 3, most: 5, cued: 0.3 },
} as const;
export type Difficulty = keyof typeof DIFFICULTIES;

export interface TaskDraw {
  readonly split: Split;
  readonly seed: number;
  readonly difficulty: Difficulty;
}

export interface Decision {
  readonly kind: DecisionKind;
  readonly value: Value;
  /** Values that it could have had, its own among them. */
  readonly options: readonly Value[];
  /** True when the description hints that there is such a rule; it never hints at the value. */
  readonly cued: boolean;
}

export interface StarterTask {
  readonly task: ProgramTask;
  readonly domain: string;
  readonly form: string;
  /** Domain, form and kinds of decisions; tasks of one structure are all in one split. */
  readonly structure: string;
  readonly decisions: readonly Decision[];
}

/** Minimum number of combinations of values; with fewer, a lucky guess would be too likely. */
const MIN_COMBINATIONS = 24;

const MIN_DESCRIPTION_WORDS = 25;
const MAX_DESCRIPTION_WORDS = 60;

/** Yields tasks without end, no two the same, and the same ones for the same seed. */
export function starterTasks({ split, seed, difficulty }: TaskDraw): Generator<StarterTask, never> {
  const random = new Random(hash(`${split} ${difficulty} ${seed}`));
  return withoutRepeats(() => drawTask(split, difficulty, random));
}

/** A decision that is not given is left out. With all values it is the reference. */
export function codeFor(task: StarterTask, values: DecisionValues): string {
  return sourceOf(shapeOf(task), values);
}

/** Also about a decision that the task does not have. */
export function questionsAbout(task: StarterTask, kind: DecisionKind): readonly string[] {
  return QUESTIONS[kind].map((text) => inWordsOf(domainOf(task), text));
}

type IdleTopic = keyof typeof IDLE_QUESTIONS;
export const IDLE_TOPICS = Object.keys(IDLE_QUESTIONS) as readonly IdleTopic[];

export function idleQuestions(task: StarterTask, topic: IdleTopic): readonly string[] {
  return IDLE_QUESTIONS[topic].map((text) => inWordsOf(domainOf(task), text));
}

/** Returns undefined when the draw belongs to another split, is too short or too long, or has no telling tests. */
function drawTask(split: Split, difficulty: Difficulty, random: Random): StarterTask | undefined {
  const domain = random.pick(DOMAINS);
  const form = random.pick(FORMS);
  const kinds = drawKinds(domain, difficulty, random);
  const structure = `${domain.name} ${form} ${kinds.join(' ')}`;
  if (splitOf(structure) !== split) return undefined;
  const decisions = kinds.map((kind): Decision => {
    const options = OPTIONS[kind];
    return {
      kind,
      value: random.pick(options),
      options,
      cued: random.number() < DIFFICULTIES[difficulty].cued,
    };
  });
  const shape = { name: random.pick(domain.functions), quantity: domain.quantity, form };
  const description = describe(domain, shape, decisions, random);
  const words = description.split(' ').length;
  const values: DecisionValues = Object.fromEntries(decisions.map(({ kind, value }) => [kind, value]));
  const tests =
    words < MIN_DESCRIPTION_WORDS || words > MAX_DESCRIPTION_WORDS
      ? undefined
      : findTests(form, values, random);
  if (tests === undefined) return undefined;
  const reference = sourceOf(shape, values);
  const calls = tests.map((input) => callOf(shape, input));
  const task: ProgramTask = {
    id: `starter-${split}-${contentId(description, reference, calls)}`,
    description,
    reference,
    testCases: calls.map((call, i) => ({ name: `test${i + 1}`, call })),
    hiddenInformation: reference,
    facts: decisions.map((decision) => factOf(domain, decision)),
    source: 'Tandem starter world',
    license: 'MIT',
  };
  return { task, domain: domain.name, form, structure, decisions };
}

/** Kinds that this domain usually has, in the order in which a program applies them. */
function drawKinds(domain: Domain, difficulty: Difficulty, random: Random): DecisionKind[] {
  const { fewest, most } = DIFFICULTIES[difficulty];
  const weights = KINDS.flatMap((kind) => {
    const decision = domain.decisions[kind];
    return decision === undefined ? [] : [[kind, decision.weight] as const];
  });
  for (;;) {
    const drawn = new Set(random.sample(weights, fewest + random.below(most - fewest + 1)));
    const combinations = [...drawn].reduce((product, kind) => product * OPTIONS[kind].length, 1);
    if (fitTogether(drawn) && combinations >= MIN_COMBINATIONS)
      return KINDS.filter((kind) => drawn.has(kind));
  }
}

function describe(domain: Domain, shape: Shape, decisions: readonly Decision[], random: Random): string {
  const cues = decisions
    .filter(({ cued }) => cued)
    .map(({ kind }) => random.pick(domain.decisions[kind]?.cues ?? []));
  return [
    random.pick(domain.openers),
    inWordsOf(domain, random.pick(ARGUMENTS[shape.form])),
    ...random.shuffled(cues),
    `The signature of the function is: ${signatureOf(shape)}`,
  ].join(' ');
}

function factOf(domain: Domain, { kind, value }: Decision): Fact {
  const { topic, keywords } = TOPICS[kind];
  const inWords = (texts: readonly string[]): string[] => texts.map((text) => inWordsOf(domain, text));
  return { topic, keywords: inWords(keywords), answers: inWords(answersFor(kind, value)) };
}

function shapeOf({ task, domain, form }: StarterTask): Shape {
  const name = /^def (\w+)/.exec(task.reference)![1]!;
  return { name, quantity: domainOf({ domain }).quantity, form: form as FunctionForm };
}

function domainOf({ domain }: Pick<StarterTask, 'domain'>): Domain {
  return DOMAINS.find(({ name }) => name === domain)!;
}

const TESTS = 10;
const CANDIDATES = 60;
/** The rates are binary fractions, so that amounts are exact. */
const RATES = [0.5, 0.75, 1.25, 1.5, 1.75, 2.25, 2.5, 3.25];
const BASES = [1.5, 2, 2.5];
const MAX_QUANTITY = 64;
/** Minimum number of different results; with fewer a constant would come too near. */
const MIN_RESULTS = 4;

/**
 * Finds ten different calls on which any single decision, taken otherwise or left out, gives another result somewhere,
 * and on which all programs with these decisions agree. Returns undefined when chance found none.
 */
function findTests(form: FunctionForm, values: DecisionValues, random: Random): Input[] | undefined {
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
  if (tests.length !== TESTS || results.size < MIN_RESULTS) return undefined;
  return tests.map((i) => candidates[i]!);
}

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

/** Nothing, a few, a quantity around what the decisions speak of, or any. */
function drawQuantity(values: DecisionValues, random: Random): number {
  const chance = random.number();
  if (chance < 0.1 && values.empty !== undefined) return 0;
  if (chance < 0.25) return 1 + random.below(6);
  if (chance < 0.5) {
    const edge = Number(values.threshold ?? values.free ?? 10);
    return Math.max(1, edge - 2 + random.below(5));
  }
  return 1 + random.below(MAX_QUANTITY);
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

/** True if all who know the decisions get the same result here. */
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
