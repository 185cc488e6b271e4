import { mulberry32 } from '../../random';
import { deriveSeed } from '../../seed';
import { argumentsIn } from '../../task/python/asserts';
import { signatureIn } from '../../task/signature';

/** Rows are lists in a list: two numbers; a text and one or two numbers; two texts and two numbers. */
const KINDS = [
  ...(['number', 'numbers', 'texts', 'mapping', 'pairs', 'labelled', 'triples', 'matches'] as const),
  ...(['record', 'records', 'flag', 'text'] as const),
] as const;
type Kind = (typeof KINDS)[number];

type Random = () => number;

/** Python literals. */
interface Values {
  /** The simplest first. */
  readonly usual: Readonly<Record<Kind, readonly string[]>>;
  readonly draw: Readonly<Record<Kind, (random: Random) => string>>;
  /** Whether the drafts or the description quote texts. */
  readonly quotesTexts: boolean;
}

const MAX_CONSTANTS = 8;
const MAX_TEXT_CHARS = 40;
const MAX_ITEMS = 5;
const DIGITS = '12345678901234567890';

/**
 * Constants of the drafts are among the values, so that limits are met exactly and names are known.
 * @param description may quote texts that the function takes
 */
export function valuesOf(codes: readonly string[], description: string): Values {
  const code = codes.join('\n');
  const quotes = [...new Set([...textsIn(code), ...textsIn(description)])].slice(0, MAX_CONSTANTS);
  const words = quotes.map((text) => `'${text}'`);
  const constants = numbersIn(code);
  const near = constants.flatMap((number) => [number, number + 1, number - 1]).map(String);
  const number = distinct(
    '3',
    '10',
    ...near,
    '1',
    '0',
    '2',
    '100',
    '2.5',
    '-1',
    ...constants.map((n) => `-${n}`),
  );
  // As long as a limit of the drafts.
  const digits = near.flatMap((n) => (/^[1-9]$|^1\d$/.test(n) ? `'${DIGITS.slice(0, Number(n))}'` : []));
  const text = distinct(...words, "'Hello World'", "'a'", "'b'", "'12'", ...digits, "''");
  const keys = words.length < 2 ? ["'a'", "'b'"] : words;
  const [first, second] = keys as [string, string];
  const each = (around: (number: string) => string): readonly string[] => near.map(around);
  const record = (value: () => string): string => `{${keys.map((key) => `${key}: ${value()}`).join(', ')}}`;
  const numberIn = pick(number);
  const cell = (random: Random): string => (random() < 0.1 ? 'None' : numberIn(random));
  const key = pick(keys);
  const textIn = pick(text);
  const spoken = (random: Random): string =>
    random() < 0.5 ? textIn(random) : `${textIn(random).slice(0, -1)} ${textIn(random).slice(1)}`;
  const rows = (...columns: readonly ((random: Random) => string)[]) =>
    listOf((random) => `[${columns.map((column) => column(random)).join(', ')}]`);
  return {
    quotesTexts: words.length > 0,
    usual: {
      ...{ number, text, flag: ['True', 'False'] },
      numbers: distinct('[3, 1, 2]', ...each((n) => `[${n}]`), '[]'),
      texts: distinct(`[${first}, ${second}]`, `[${keys.join(', ')}]`, `[${first}, ${first}]`, '[]'),
      mapping: distinct(`{${first}: 3, ${second}: 10}`, ...each((n) => `{${first}: ${n}}`), '{}'),
      pairs: distinct(
        '[[1, 3], [5, 10]]',
        ...each((n) => `[[3, ${n}]]`),
        ...each((n) => `[[${n}, 3]]`),
        '[]',
      ),
      labelled: distinct(`[[${first}, 3], [${second}, 10]]`, ...each((n) => `[[${first}, ${n}]]`), '[]'),
      triples: distinct(
        `[[${first}, 3, 10], [${second}, 10, 3]]`,
        ...each((n) => `[[${first}, 3, ${n}]]`),
        '[]',
      ),
      matches: distinct(`[[${first}, ${second}, 3, 1]]`, `[[${first}, ${second}, 1, 1]]`, '[]'),
      record: distinct(
        record(() => '3'),
        ...each((n) => record(() => n)),
      ),
      records: distinct(`[${record(() => '3')}]`, ...each((n) => `[${record(() => n)}]`), '[]'),
    },
    draw: {
      ...{ number: numberIn, text: spoken, flag: pick(['True', 'False']) },
      ...{ numbers: listOf(cell), texts: listOf(textIn) },
      mapping: (random) =>
        `{${keys.flatMap((one) => (random() < 0.6 ? `${one}: ${cell(random)}` : [])).join(', ')}}`,
      pairs: rows(numberIn, numberIn),
      labelled: rows(key, numberIn),
      triples: rows(key, numberIn, numberIn),
      matches: rows(key, key, numberIn, numberIn),
      record: (random) => record(() => numberIn(random)),
      records: listOf((random) => record(() => numberIn(random))),
    },
  };
}

const pick =
  (values: readonly string[]) =>
  (random: Random): string =>
    values[Math.floor(random() * values.length)]!;

const listOf =
  (item: (random: Random) => string) =>
  (random: Random): string =>
    `[${Array.from({ length: 1 + Math.floor(random() * MAX_ITEMS) }, () => item(random)).join(', ')}]`;

function numbersIn(code: string): readonly number[] {
  const found = code.matchAll(/(?<![\w.])\d{1,6}(?:\.\d{1,4})?(?![\w.])/g);
  return [...new Set([...found].map(([text]) => Number(text)))].slice(0, MAX_CONSTANTS);
}

/** Short strings on one line; docstrings and sentences with apostrophes give none. */
function textsIn(text: string): readonly string[] {
  const found = text.matchAll(/(?<![\w'"])(['"])([^'"\\\n]+)\1(?![\w'"])/g);
  return [...found].flatMap(([, , content = '']) => (content.length <= MAX_TEXT_CHARS ? content : []));
}

const distinct = (...values: readonly string[]): readonly string[] => [...new Set(values)];

export interface Parameter {
  readonly name: string;
  /** Its type hint, or nothing. */
  readonly hint: string;
}

/** Those that a call gives by position, defaults included. Undefined if the code does not define the function. */
export function parametersOf(code: string, name: string): readonly Parameter[] | undefined {
  const signature = signatureIn(code, name);
  if (signature === undefined) return undefined;
  const parts = argumentsIn(signature.slice(signature.indexOf('(') + 1, signature.lastIndexOf(')')));
  const end = parts.findIndex((part) => part.startsWith('*'));
  return (end === -1 ? parts : parts.slice(0, end)).flatMap((part) => {
    const [, word, hint = ''] = /^([\p{L}_][\p{L}\p{N}_]*)\s*(?::([^=]*))?/u.exec(part) ?? [];
    return word === undefined ? [] : [{ name: word, hint: hint.trim() }];
  });
}

// Calls on which drafts of a function are compared. Nothing is known of its parameters but their names and perhaps
// hints, so one call per combination of kinds is tried first, and the kinds on which the drafts work get all values.

/** One kind per parameter. */
type Kinds = readonly Kind[];

/** Arguments are Python literals, in the order of the parameters. */
export interface DraftCall {
  readonly name: string;
  readonly arguments: readonly string[];
}

const MAX_TRIALS = 128;
const MAX_CALLS = 96;

export const pythonOf = ({ name, arguments: values }: DraftCall): string => `${name}(${values.join(', ')})`;

/** The likeliest combinations of kinds first. A parameter with a hint has the kinds that fit it only. */
export function trialsOf(
  name: string,
  parameters: readonly Parameter[],
  values: Values,
): readonly { readonly kinds: Kinds; readonly call: DraftCall }[] {
  const choices = parameters.map((parameter) => kindsOf(parameter, values.quotesTexts));
  const most = choices.reduce((sum, kinds) => sum + kinds.length - 1, 0);
  const trials: Kinds[] = [];
  for (let rank = 0; rank <= most && trials.length < MAX_TRIALS; rank++)
    trials.push(...ranked(choices, rank, MAX_TRIALS - trials.length));
  return trials.map((kinds) => ({
    kinds,
    call: { name, arguments: kinds.map((kind) => values.usual[kind][0]!) },
  }));
}

/** Combinations whose places in the choices have this sum. */
function ranked(choices: readonly Kinds[], rank: number, limit: number): Kinds[] {
  const [first, ...others] = choices;
  if (first === undefined) return rank === 0 ? [[]] : [];
  const found: Kinds[] = [];
  for (let place = 0; place <= rank && place < first.length && found.length < limit; place++)
    for (const rest of ranked(others, rank - place, limit - found.length))
      found.push([first[place]!, ...rest]);
  return found;
}

const LIST = String.raw`^(?:typing\.)?(?:list|sequence|iterable|collection|tuple|set)\b`;
const ROWS: Kinds = ['pairs', 'labelled', 'triples', 'matches'];

const HINTED: readonly (readonly [RegExp, Kinds])[] = [
  [new RegExp(`${LIST}.*\\b(?:dict|mapping)\\b`, 'i'), ['records']],
  [new RegExp(`${LIST}.*\\b(?:list|tuple)\\b`, 'i'), ROWS],
  [new RegExp(`${LIST}\\[str\\b`, 'i'), ['texts']],
  [new RegExp(`${LIST}\\[(?:int|float)\\b`, 'i'), ['numbers']],
  [new RegExp(LIST, 'i'), ['numbers', 'texts', ...ROWS, 'records']],
  [/^(?:typing\.)?(?:dict|mapping)\b/i, ['mapping', 'record']],
  [/\bbool\b/, ['flag']],
  [/\b(?:int|float|decimal)\b/i, ['number']],
  [/\bstr\b/, ['text']],
];

const TEXTUAL = /name|text|word|title|string|line|letter|message|email|date|kind|type|code|raw/i;

/**
 * A function of a list often works on a text too, but hardly one of a text on a list, so that texts come last; unless
 * the name says so, or texts are quoted, which are rarely those of other parameters in the plural.
 */
function kindsOf({ name, hint }: Parameter, quotesTexts: boolean): Kinds {
  const hinted = HINTED.find(([form]) => form.test(hint))?.[1];
  if (hinted !== undefined) return hinted;
  const others = KINDS.filter((kind) => kind !== 'text');
  const isText = /s$/i.test(name) ? false : quotesTexts || TEXTUAL.test(name);
  return isText ? ['text', ...others] : [...others, 'text'];
}

/** First the usual values, changed one at a time, then several drawn ones together. */
export function callsOf(name: string, kinds: Kinds, values: Values): readonly DraftCall[] {
  const pools = kinds.map((kind) => [...values.usual[kind], 'None']);
  const first = pools.map(([usual]) => usual!);
  const longest = Math.max(0, ...pools.map(({ length }) => length));
  const alone: (readonly string[])[] = [first];
  for (let place = 1; place < longest; place++)
    for (const [at, pool] of pools.entries())
      if (place < pool.length) alone.push(first.with(at, pool[place]!));
  const random = mulberry32(deriveSeed('drafts', name));
  const begun = alone.slice(0, MAX_CALLS / 2);
  const drawn = Array.from({ length: MAX_CALLS - begun.length }, () =>
    kinds.map((kind) => values.draw[kind](random)),
  );
  const unique = new Map([...begun, ...drawn].map((each) => [each.join(', '), each]));
  return [...unique.values()].map((each) => ({ name, arguments: each }));
}
