import { mulberry32 } from '../../random';
import { deriveSeed } from '../../seed';
import type { Parameter } from './parameters';
import { KINDS, type Kind, type Values } from './draftValues';

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
