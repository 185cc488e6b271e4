/** Rows are lists in a list: two numbers; a text and one or two numbers; two texts and two numbers. */
export const KINDS = [
  ...(['number', 'numbers', 'texts', 'mapping', 'pairs', 'labelled', 'triples', 'matches'] as const),
  ...(['record', 'records', 'flag', 'text'] as const),
] as const;
export type Kind = (typeof KINDS)[number];

type Random = () => number;

/** Python literals. */
export interface Values {
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
