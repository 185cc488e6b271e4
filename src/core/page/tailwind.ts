import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

interface Rule {
  /** `@media (…)`, or empty. */
  readonly media: string;
  readonly css: string;
  /** The classes of each of its selectors; a rule applies to a page that has all classes of one of them. */
  readonly classes: readonly (readonly string[])[];
}

/**
 * The part of Tailwind's style sheet that a page with these classes uses, in the order of the sheet. A page drawn with
 * it is equal to the page drawn with the whole sheet of 2.9 MB: version 2.2.19, to which the published pages link.
 */
export function tailwindFor(classes: ReadonlySet<string>, file: string): string {
  const { rules, byClass } = sheetOf(file);
  const candidates = new Set(['', ...classes].flatMap((name) => byClass.get(name) ?? []));
  const used = [...candidates]
    .sort((a, b) => a - b)
    .map((index) => rules[index]!)
    .filter((rule) => rule.classes.some((all) => all.every((one) => classes.has(one))));
  let css = '';
  let media = '';
  for (const rule of used) {
    if (rule.media !== media) css += `${media && '}'}${rule.media && `${rule.media}{`}`;
    media = rule.media;
    css += rule.css;
  }
  return media === '' ? css : `${css}}`;
}

/**
 * What Tailwind declares for an element with these classes in a window of this width, by property; later rules win.
 * Only rules for the element itself: none for its children, and none for a pointer or the keyboard.
 */
export function tailwindDeclarations(
  classes: readonly string[],
  file: string,
  width: number,
): ReadonlyMap<string, string> {
  const sheet = sheetOf(file);
  const used = classes
    .flatMap((name) => ownRules(name, sheet))
    .filter(({ from }) => from <= width)
    .sort((a, b) => a.index - b.index);
  return new Map(used.flatMap(({ declarations }) => declarations));
}

interface OwnRule {
  readonly index: number;
  /** Width in CSS pixels from which it applies. */
  readonly from: number;
  readonly declarations: readonly (readonly [property: string, value: string])[];
}

/** The rules for an element of this class alone. */
function ownRules(name: string, { rules, byClass, own }: Sheet): readonly OwnRule[] {
  const indices = byClass.get(name);
  if (indices === undefined) return [];
  const known = own.get(name);
  if (known !== undefined) return known;
  const found = indices.flatMap((index) => {
    const { media, css } = rules[index]!;
    if (!isRuleOf(name, css)) return [];
    const [, from = '0'] = /^@media \(min-width:(\d+)px\)$/.exec(media) ?? [];
    const declarations = declarationsIn(css.slice(css.indexOf('{') + 1, -1));
    return [{ index, from: Number(from), declarations }];
  });
  own.set(name, found);
  return found;
}

/** @param css the inside of a rule, or a `style` attribute */
export const declarationsIn = (css: string): (readonly [property: string, value: string])[] =>
  css.split(';').flatMap((declaration) => {
    const colon = declaration.indexOf(':');
    const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
    return property === '' ? [] : [[property, declaration.slice(colon + 1).trim()]];
  });

const isRuleOf = (name: string, css: string): boolean =>
  css
    .slice(0, css.indexOf('{'))
    .split(/(?<!\\),/)
    .some((selector) => selector.startsWith('.') && unescaped(selector.slice(1)) === name);

interface Sheet {
  readonly rules: readonly Rule[];
  /** Indices of the rules with a selector whose first class it is; those of selectors without one under ''. */
  readonly byClass: ReadonlyMap<string, readonly number[]>;
  /** The rules of the classes that were asked for. */
  readonly own: Map<string, readonly OwnRule[]>;
}

let known: { readonly file: string; readonly sheet: Sheet } | undefined;

function sheetOf(file: string): Sheet {
  if (known?.file !== file) {
    const rules = parse(brotliDecompressSync(readFileSync(file)).toString('utf8'));
    const byClass = new Map<string, number[]>();
    for (const [index, { classes }] of rules.entries()) {
      for (const [first = ''] of classes) byClass.set(first, [...(byClass.get(first) ?? []), index]);
    }
    known = { file, sheet: { rules, byClass, own: new Map() } };
  }
  return known.sheet;
}

/** Splits the minified sheet, which has no strings with braces. */
function parse(sheet: string): Rule[] {
  const css = sheet.replace(/\/\*.*?\*\//gs, '');
  const rules: Rule[] = [];
  const conditions: string[] = [];
  for (let at = 0; at < css.length;) {
    if (css[at] === '}') {
      conditions.pop();
      at++;
      continue;
    }
    const open = css.indexOf('{', at);
    if (open < 0) break;
    const prelude = css.slice(at, open);
    if (prelude.startsWith('@media')) {
      conditions.push(prelude.slice('@media '.length));
      at = open + 1;
      continue;
    }
    const end = prelude.startsWith('@keyframes') ? css.indexOf('}}', open) + 2 : css.indexOf('}', open) + 1;
    const media = conditions.length === 0 ? '' : `@media ${conditions.join(' and ')}`;
    rules.push({ media, css: css.slice(at, end), classes: classesOf(prelude) });
    at = end;
  }
  return rules;
}

const CLASS = /\.((?:\\.|[\w-])+)/g;

function classesOf(prelude: string): readonly (readonly string[])[] {
  if (prelude.startsWith('@')) return [[]];
  // A comma inside :not(…) or :is(…) splits no selector of this sheet: it has none.
  return prelude
    .split(/(?<!\\),/)
    .map((selector) => [...selector.matchAll(CLASS)].map(([, name]) => unescaped(name!)));
}

/** Without CSS escapes: `\\32xl\\:flex` is `2xl:flex`. */
const unescaped = (name: string): string =>
  name.replace(/\\(?:([0-9a-f]{1,6})\s?|(.))/gi, (_, code: string | undefined, character: string) =>
    code === undefined ? character : String.fromCodePoint(Number.parseInt(code, 16)),
  );
