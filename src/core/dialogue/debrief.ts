import { extractCode } from '../grading/code';
import { failurePatterns, type FailurePattern } from '../grading/failurePatterns';
import type { Grade } from '../grading/grade';
import type { Fact, ProgramTask } from '../task/task';
import type { EventOf } from '../trajectory/event';
import type { Turn } from '../trajectory/trajectory';
import { askedIn, matcherOf } from './factMatcher';
import { parseAgentMessage } from './protocol';

type Reply = EventOf<'reply'>;

/** A number of a reply that the reference has and the answer's code has not. */
export interface IgnoredNumber {
  /** As the reply has it. */
  readonly number: string;
  /** The only fact that has the number. */
  readonly topic?: string;
  readonly reply: Reply;
}

/** What a graded dialogue teaches; computed from the log, which has nothing of it. */
export interface Debrief {
  /** Topics of the task's facts; none without facts. */
  readonly decided: readonly string[];
  /** Topics that no question was about, and no reply either. */
  readonly unasked: readonly string[];
  /** Empty when all tests passed. */
  readonly ignored: readonly IgnoredNumber[];
  readonly patterns: readonly FailurePattern[];
}

interface Graded {
  readonly task: ProgramTask;
  readonly turns: readonly Turn[];
  readonly answer: string;
  readonly grade: Grade;
}

/** Leaves out what is not certain: who reads that something was never asked has to be able to rely on it. */
export function debriefOf({ task, turns, answer, grade }: Graded): Debrief {
  const { facts = [] } = task;
  const touched = touchedFacts(task, turns);
  const hasFailed = grade.success === false;
  return {
    decided: facts.map(({ topic }) => topic),
    unasked: facts.filter((fact) => !touched.has(fact)).map(({ topic }) => topic),
    ignored: hasFailed ? ignoredNumbers(task, turns, answer) : [],
    patterns: hasFailed ? failurePatterns(task, grade) : [],
  };
}

/** Facts that a question or a reply is about, however vaguely. */
function touchedFacts(task: ProgramTask, turns: readonly Turn[]): ReadonlySet<Fact> {
  const matcher = matcherOf(task);
  const touched = new Set<Fact>();
  let lastReply: string | undefined;
  for (const { agent, reply } of turns) {
    // The answer itself asks nothing.
    if (reply === undefined) continue;
    for (const { question, fact } of askedIn(task, parseAgentMessage(agent.text).visible, lastReply)) {
      if (fact !== undefined) touched.add(fact);
      for (const named of matcher.withKeywordIn(question.text)) touched.add(named);
    }
    for (const fact of repliedFacts(task, reply)) touched.add(fact);
    lastReply = reply.text;
  }
  return touched;
}

function repliedFacts(task: ProgramTask, { text }: Reply): Fact[] {
  const { certain, rest } = certainFacts(task, text);
  return [...certain, ...matcherOf(task).withKeywordIn(rest)];
}

/**
 * Facts that a text states in one of their wordings, or by a number that only they have.
 * @returns also the rest of the text, without those wordings: one of a fact may have a keyword of another
 */
export function certainFacts(
  task: ProgramTask,
  text: string,
): { readonly certain: readonly Fact[]; readonly rest: string } {
  const { facts = [] } = task;
  const wordings = facts.flatMap(({ answers }) => answers).sort((one, other) => other.length - one.length);
  const rest = wordings.reduce((left, wording) => left.replaceAll(wording, '\n'), text);
  const exact = facts.filter(({ answers }) => answers.some((wording) => text.includes(wording)));
  const numbers = new Set(numbersOfText(rest).map(({ value }) => value));
  const numbered = facts.filter((fact) => [...numbers].some((value) => ownNumbers(fact, task).has(value)));
  return { certain: [...exact, ...numbered], rest };
}

/** Numbers that the request and the other facts do not have. */
function ownNumbers(fact: Fact, { facts = [], description }: ProgramTask): ReadonlySet<number> {
  const others = facts.filter((other) => other !== fact).flatMap(({ answers }) => answers);
  const elsewhere = new Set(numbersOfText([description, ...others].join('\n')).map(({ value }) => value));
  const own = numbersOfText(fact.answers.join('\n')).map(({ value }) => value);
  return new Set(own.filter((value) => !elsewhere.has(value)));
}

function ignoredNumbers(task: ProgramTask, turns: readonly Turn[], answer: string): IgnoredNumber[] {
  const calls = task.testCases.map(({ call }) => call);
  const written = numbersOfCode(extractCode(answer, 'fixed', calls));
  const needed = new Set(numbersOfText(task.reference.replace(/#.*/g, '')).map(({ value }) => value));
  const said = turns.flatMap(({ reply }) => numbersOfText(reply?.text ?? '').map(({ value }) => value));
  const ignored = new Map<number, IgnoredNumber>();
  for (const { reply } of turns) {
    if (reply === undefined) continue;
    for (const { value, shown } of numbersOfText(reply.text)) {
      if (isInAnyCode(value) || !needed.has(value)) continue;
      if (waysToWrite(value, reply.text, said).some((way) => written.has(way))) continue;
      const about = (task.facts ?? []).filter((fact) => ownNumbers(fact, task).has(value));
      ignored.set(value, { number: shown, topic: about[0]?.topic, reply });
    }
  }
  return [...ignored.values()];
}

interface WrittenNumber {
  readonly value: number;
  /** As the text has it. */
  readonly shown: string;
}

/** Numbers in digits, without those that are a part of a name, a date or a time. */
function numbersOfText(text: string): WrittenNumber[] {
  const found = text.matchAll(
    /(?<![\p{L}\p{N}_.,:/]|[\p{L}\p{N}][-–])(\d+(?:,\d{3})*(?:\.\d+)?)(?:st|nd|rd|th)?(?![\p{L}\p{N}_]|[:/,.-]\d)/gu,
  );
  return [...found].map(([, shown]) => ({ value: Number(shown!.replaceAll(',', '')), shown: shown! }));
}

const LITERAL = '(?:\\d[\\d_]*(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?';

/** Numbers anywhere in Python source, names and comments included, and results of two with a sign between them. */
export function numbersOfCode(code: string): ReadonlySet<number> {
  const valueOf = (literal: string): number => Number(literal.replaceAll('_', ''));
  const literals = [...code.matchAll(new RegExp(LITERAL, 'gi'))].map(([literal]) => valueOf(literal));
  // A sum is one only where nothing binds its numbers more strongly.
  const operations = [
    `(${LITERAL})\\s*(\\*\\*|[*/])\\s*(${LITERAL})`,
    `(?<![*/%]\\s*)(${LITERAL})\\s*([-+])\\s*(${LITERAL})(?![\\w.]|\\s*[*/%])`,
  ];
  const pairs = operations.flatMap((operation) => [
    ...code.matchAll(new RegExp(`(?=(?<![\\w.])${operation})`, 'gi')),
  ]);
  const results = pairs.map(([, one, sign, other]) => result(valueOf(one!), sign!, valueOf(other!)));
  return new Set([...literals, ...results].map(rounded));
}

function result(one: number, sign: string, other: number): number {
  switch (sign) {
    case '+':
      return one + other;
    case '-':
      return one - other;
    case '*':
      return one * other;
    case '/':
      return one / other;
    default:
      return one ** other;
  }
}

/** What code may do with a number that was said with such a word. */
const CONVERSIONS: readonly { readonly words: RegExp; readonly factors: readonly number[] }[] = [
  { words: /euro|cent|dollar|pound|price|cost|[€$£]/i, factors: [100] },
  { words: /second|minute|hour|day|week|night/i, factors: [60, 3600, 24, 7] },
  { words: /gram|kilo|met(?:er|re)|lit(?:er|re)|ton|\bk[gm]\b/i, factors: [100, 1000] },
  { words: /month|year|dozen/i, factors: [12, 365] },
  { words: /tenth/i, factors: [10] },
];

const SHARE = /percent|per cent|%|share|half/i;

/**
 * Numbers that code may have in place of one that was said: the other side of a boundary, a percentage as a fraction or as
 * what is left of the whole, another unit, twice or half of it, its product or quotient with another number.
 *
 * @param text in which it was said
 * @param others numbers that were said as well
 */
function waysToWrite(value: number, text: string, others: readonly number[]): number[] {
  const fraction = value / 100;
  const shares = SHARE.test(text) ? [fraction, 1 - fraction, 1 + fraction, 100 - value, 100 + value] : [];
  const factors = CONVERSIONS.flatMap((each) => (each.words.test(text) ? each.factors : []));
  const scales = [2, ...factors, ...others.filter((other) => other !== value && other !== 0)];
  const derived = [...shares, ...scales.flatMap((factor) => [value * factor, value / factor])]
    .map(rounded)
    .filter((way) => !isInAnyCode(way));
  return [value, value - 1, value + 1, ...derived];
}

/** 0, 1 and 2 occur in nearly any code, so their presence or absence says nothing. */
const isInAnyCode = (value: number): boolean => [0, 1, 2].includes(value);

/** Without what floating-point arithmetic loses. */
const rounded = (value: number): number => Number(value.toPrecision(9));
