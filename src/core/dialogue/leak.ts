import { withoutComments } from '../task/python/asserts';
import { PythonStrings } from '../task/python/strings';
import { isProgram, type Task } from '../task/task';

export interface Leak {
  /** Fraction of the reference's code tokens that the reply contains in runs, 0 to 1. */
  readonly fraction: number;
  readonly leaked: boolean;
}

/** Fraction from which a reply counts as leaked. */
export const LEAK_THRESHOLD = 0.25;

/** Shorter runs of equal tokens happen by chance, as do runs without operators ("if x is in y" is English too). */
const MIN_RUN = 5;
const MIN_OPERATORS = 2;

/**
 * Measures how much of the reference a reply gives away, on code tokens: the share of the reference's body that stands
 * in the reply as runs of at least five equal tokens, two of them operators. All names count as equal, so that renamed
 * code still counts; comments and the signature, which everyone knows, do not.
 *
 * A reply is English with code in it. It is read as Python and as prose, and the reading that gives away more counts:
 * in prose an apostrophe and a `#` mean nothing, and code inside quotation marks is code. A decision that is spelled
 * out as a formula is a leak too: "(x + y) / 2" gives away `return (a + b) / 2`.
 */
export function measureLeak(reference: string, reply: string): Leak {
  const { fraction } = closerReading(reference, reply);
  return { fraction, leaked: fraction >= LEAK_THRESHOLD };
}

export function leakedPassages(reference: string, reply: string): string[] {
  const { told, isTold } = closerReading(reference, reply);
  return passagesOf(reply, told, isTold);
}

/** The parts of a text that runs of marked tokens cover. */
export function passagesOf(
  text: string,
  tokens: readonly Pick<Token, 'start' | 'end'>[],
  isMarked: readonly boolean[],
): string[] {
  const passages: { start: number; end: number }[] = [];
  for (const [index, { start, end }] of tokens.entries()) {
    if (!isMarked[index]) continue;
    const last = passages.at(-1);
    if (last !== undefined && isMarked[index - 1]) last.end = end;
    else passages.push({ start, end });
  }
  return passages.map(({ start, end }) => text.slice(start, end));
}

interface Reading {
  readonly fraction: number;
  /** Tokens of the reply; `isTold` marks the ones that lie in such a run. */
  readonly told: readonly Token[];
  readonly isTold: readonly boolean[];
}

function closerReading(reference: string, reply: string): Reading {
  const python = pythonTokens(reply);
  const prose = proseTokens(reply);
  // Most replies are plain English, for which the reference need not be read.
  if (!mayTell(python) && !mayTell(prose))
    return { fraction: 0, told: python, isTold: python.map(() => false) };
  const secret = body(reference);
  const asPython = reading(pythonTokens(secret), python);
  const asProse = reading(proseTokens(withoutComments(secret)), prose);
  return asProse.fraction > asPython.fraction ? asProse : asPython;
}

const mayTell = (told: readonly Token[]): boolean =>
  told.length >= MIN_RUN && told.filter(({ text }) => isOperator(text)).length >= MIN_OPERATORS;

function reading(secret: readonly Token[], told: readonly Token[]): Reading {
  const hidden = secret.map(({ text }) => text);
  const said = told.map(({ text }) => text);
  const [isCovered, isTold] = [runsIn(hidden, said, isOperator), runsIn(said, hidden, isOperator)];
  const fraction = secret.length === 0 ? 0 : isCovered.filter(Boolean).length / secret.length;
  return { fraction, told, isTold };
}

const KEYWORDS = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from global if import in ' +
    'is lambda nonlocal not or pass raise return try while with yield None True False ' +
    'abs all any bool dict enumerate filter float int isinstance len list map max min range reversed round set ' +
    'sorted str sum tuple zip'
  ).split(' '),
);

const WORD = String.raw`\d[\d_]*\.?\d*(?:[eE][+-]?\d+)?|[\p{L}_][\p{L}\p{N}_]*|\*\*=?|\/\/=?|[<>=!+\-*/%&\|^]=|->|[^\s\p{L}\p{N}_]`;

const WORDS = new RegExp(WORD, 'uy');

/** Signs that are skipped in prose: quotation marks and `#` mean nothing there, and the content of strings counts. */
const SIGN_OF_PROSE = String.raw`\\[nt]|["'#\\“”‘’«»]|${'`'}|^[ \t]*>(?!=)`;
const PROSE = new RegExp(`(?:${SIGN_OF_PROSE})|(?<token>${WORD})`, 'gmu');

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const pythonTokens = (source: string): Token[] => {
  const strings = new PythonStrings(source);
  const tokens: Token[] = [];
  const add = (text: string, start: number, end: number): number => tokens.push({ text, start, end }) && end;
  for (let at = 0; at < source.length;) {
    const string = strings.at(at);
    WORDS.lastIndex = at;
    if (string !== undefined) at = add(`'${source.slice(string.inside, string.insideEnd)}'`, at, string.end);
    else if (source[at] === '#') at = lineEnd(source, at);
    else {
      const [word] = WORDS.exec(source) ?? [];
      at = word === undefined ? at + 1 : add(withoutName(word), at, at + word.length);
    }
  }
  return tokens;
};

const proseTokens = (text: string): Token[] =>
  Array.from(text.matchAll(PROSE)).flatMap(({ groups, index }) => {
    const token = groups!.token;
    if (token === undefined) return [];
    return { text: withoutName(token), start: index, end: index + token.length };
  });

/** Replaces every name that is neither a keyword nor a common built-in by `name`. */
const withoutName = (token: string): string =>
  /^[\p{L}_]/u.test(token) && !KEYWORDS.has(token) ? 'name' : token;

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Without docstrings and `def` lines: the description has their content anyway. */
function body(reference: string): string {
  return reference
    .replace(/^[ \t]*[rR]?(?:"""[^"]*(?:"(?!"")[^"]*)*"""|'''[^']*(?:'(?!'')[^']*)*''')[ \t\r]*$/gm, '')
    .replace(/^[ \t]*def\s[^\n]*:[ \t\r]*$/gm, '');
}

const isOperator: IsOperator = (token) => /^(?:[()[\]{}<>=+*/%&|^~@]|!=|->|-=)/.test(token);

type IsOperator = (token: string) => boolean;

/** Marks the tokens that lie in runs that the other sequence has, too. */
export function runsIn(
  tokens: readonly string[],
  other: readonly string[],
  isOperator: IsOperator,
): boolean[] {
  const operators = [0];
  for (const token of tokens) operators.push(operators.at(-1)! + Number(isOperator(token)));
  // The loop goes from the last token back: a run reaches as far as the longest one that ends at or behind each token.
  const lengths = [...longestEndings(tokens, new Substrings(other))];
  const isShared = tokens.map(() => false);
  let begin = tokens.length;
  for (let end = tokens.length; end > 0; end -= 1) {
    const length = lengths[end - 1]!;
    if (length >= MIN_RUN && operators[end]! - operators[end - length]! >= MIN_OPERATORS)
      begin = Math.min(begin, end - length);
    if (begin < end) isShared[end - 1] = true;
  }
  return isShared;
}

/**
 * Suffix automaton of a sequence of tokens: it knows every run that the sequence has. Building and querying it take
 * time and memory linear in the sequence. Blumer et al., "The smallest automaton recognizing the subwords of a text",
 * 1985.
 */
class Substrings {
  // By state: its transitions, the length of the longest run that ends in it, and its suffix link.
  private readonly next: Map<string, number>[] = [new Map<string, number>()];
  private readonly longest: number[] = [0];
  private readonly suffix: number[] = [-1];

  constructor(tokens: Iterable<string>) {
    let last = 0;
    for (const token of tokens) last = this.extended(last, token);
  }

  /** @returns the state of the whole sequence */
  private extended(last: number, token: string): number {
    const whole = this.add(new Map(), this.longest[last]! + 1, 0);
    let state = last;
    for (; state !== -1 && !this.next[state]!.has(token); state = this.suffix[state]!)
      this.next[state]!.set(token, whole);
    if (state === -1) return whole;
    const known = this.next[state]!.get(token)!;
    if (this.longest[known] === this.longest[state]! + 1) {
      this.suffix[whole] = known;
      return whole;
    }
    const shorter = this.add(new Map(this.next[known]), this.longest[state]! + 1, this.suffix[known]!);
    for (; state !== -1 && this.next[state]!.get(token) === known; state = this.suffix[state]!)
      this.next[state]!.set(token, shorter);
    this.suffix[known] = shorter;
    this.suffix[whole] = shorter;
    return whole;
  }

  private add(next: Map<string, number>, longest: number, suffix: number): number {
    this.longest.push(longest);
    this.suffix.push(suffix);
    return this.next.push(next) - 1;
  }

  follow(from: Run, token: string): Run {
    let { state, length } = from;
    while (state !== 0 && !this.next[state]!.has(token)) {
      state = this.suffix[state]!;
      length = this.longest[state]!;
    }
    const next = this.next[state]!.get(token);
    return next === undefined ? NO_RUN : { state: next, length: length + 1 };
  }
}

interface Run {
  readonly state: number;
  readonly length: number;
}

const NO_RUN: Run = { state: 0, length: 0 };

/** Longest runs that end with each token and that the sequence has too. */
function* longestEndings(tokens: Iterable<string>, sequence: Substrings): Generator<number> {
  let run = NO_RUN;
  for (const token of tokens) {
    run = sequence.follow(run, token);
    yield run.length;
  }
}

/** What every page of the protocol has, so that it gives nothing away. */
const SHARED = /<!doctype[^>]*>|<\/?(?:html|head|body)\s*>|<(?:link|meta)\b[^>]*>/gi;

/** A tag's beginning, a class, attribute or word, and each sign. */
const TOKEN = /<\/?[a-z][\w-]*|[\p{L}\p{N}_][\p{L}\p{N}_\-:/.%#]*|[^\s\p{L}\p{N}_]/giu;

const isMarkup = (token: string): boolean => /^(?:<\/?[a-z]|[=>])/i.test(token);

/**
 * Measures how much of the wanted page a reply gives away as HTML: the share of the page's tags, classes and words that
 * stand in the reply as runs of at least five equal tokens, two of them markup. Words that a reply quotes in plain
 * sentences are what a collaborator is there to say, and do not count.
 * @param html of the wanted page
 */
export function measurePageLeak(html: string, reply: string): Leak {
  const told = tokensOf(reply);
  if (!told.some((token) => token.startsWith('<'))) return { fraction: 0, leaked: false };
  const secret = tokensOf(html.replaceAll(SHARED, ''));
  const covered = runsIn(secret, told, isMarkup).filter(Boolean).length;
  const fraction = secret.length === 0 ? 0 : covered / secret.length;
  return { fraction, leaked: fraction >= LEAK_THRESHOLD };
}

/** Of a function's code or of a page's HTML. */
export const leakOf = (task: Task, reply: string): Leak =>
  isProgram(task) ? measureLeak(task.reference, reply) : measurePageLeak(task.reference, reply);

/** The parts of a reply that give the reference away. */
export function leakedPassagesOf(task: Task, reply: string): string[] {
  if (isProgram(task)) return leakedPassages(task.reference, reply);
  const told = [...reply.matchAll(TOKEN)].map(({ 0: text, index: start }) => ({
    text,
    start,
    end: start + text.length,
  }));
  const isTold = runsIn(
    told.map(({ text }) => text),
    tokensOf(task.reference.replaceAll(SHARED, '')),
    isMarkup,
  );
  return passagesOf(reply, told, isTold);
}

/** Reason to hold a reply back until the person has looked at it again; undefined if it is no leak. */
export function leakWarningOf(
  task: Task,
  reply: string,
): { readonly percent: number; readonly passages: string[] } | undefined {
  const { fraction, leaked } = leakOf(task, reply);
  return leaked
    ? { percent: Math.round(fraction * 100), passages: leakedPassagesOf(task, reply) }
    : undefined;
}

const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];
