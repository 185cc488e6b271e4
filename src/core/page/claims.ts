import { colorDistance, colorNames, mayBeNamed, paintIn, type Color } from './color';
import type { Claim, Mistake, OutlineReading, ReadReply } from './draftReading';
import type { Outline } from './outline';

/**
 * Reads what a reply claims of the pages: sentences as the rules write them, a named and quoted text that is missing,
 * extra or mentioned, words that a text should say, the background of the page, hexadecimal colors, and that nothing is
 * left to change. All else is left unread: a claim counts as false only where the outlines leave no doubt.
 */
export function readReply(reply: string, reading: OutlineReading): ReadReply {
  const told = reading.mistakes.filter(({ sentence }) => reply.includes(sentence));
  const rest = told.reduce((text, { sentence }) => text.replaceAll(sentence, '\n'), reply);
  const claims: Claim[] = told.map((mistake) => ({ sentence: mistake.sentence, isTrue: true, mistake }));
  let unread = 0;
  for (const sentence of sentencesIn(rest)) {
    const claim = claimOf(sentence, reading);
    if (claim === undefined) unread += 1;
    else claims.push({ sentence: sentence.text, ...claim });
  }
  return { claims, unread };
}

interface Sentence {
  readonly text: string;
  /** In lower case, with the place of a quote in `quotes` for it, such as `the title «0» is missing`. */
  readonly form: string;
  readonly quotes: readonly string[];
}

/** A full stop inside quotation marks ends no sentence. */
function sentencesIn(reply: string): readonly Sentence[] {
  const quotes: string[] = [];
  let form = '';
  for (let at = 0; at < reply.length; at++) {
    const closing = CLOSING[reply[at]!];
    const end = closing === undefined ? -1 : reply.indexOf(closing, at + 1);
    if (end < 0) {
      form += reply[at]!;
      continue;
    }
    form += `«${quotes.push(reply.slice(at, end + 1)) - 1}»`;
    at = end;
  }
  return form.split(/(?<=[.!?])\s|\n/).flatMap((part) => {
    const text = part.replaceAll(/«(\d{1,4})»/g, (_, place) => quotes[Number(place)] ?? '').trim();
    const words = part.toLowerCase().replaceAll(/\s+/g, ' ').trim();
    const inside = quotes.map((quote) => quote.slice(1, -1));
    return /\p{L}/u.test(text) ? [{ text, form: words, quotes: inside }] : [];
  });
}

const CLOSING: Readonly<Record<string, string>> = { '“': '”', '"': '"' };

const ROLE = '(?:text|title|heading|link|button|list item|label|field|paragraph)';
const NAMED = `(?:${ROLE} (?:that says |saying )?«(\\d{1,4})»|«(\\d{1,4})» ${ROLE})`;

interface QuotingForm {
  readonly kind: 'missing text' | 'extra text' | 'wording';
  readonly forms: readonly RegExp[];
  /** Of the numbers of texts with the quoted words. */
  readonly isTrue: (inDraft: number, inWanted: number) => boolean;
}

const QUOTING: readonly QuotingForm[] = [
  {
    kind: 'missing text',
    forms: [
      new RegExp(`\\b(?:add|there should be) (?:an? |the )?${NAMED}`),
      new RegExp(`${NAMED} is missing[.!]?$`),
    ],
    isTrue: (inDraft, inWanted) => inWanted > inDraft,
  },
  {
    kind: 'extra text',
    forms: [
      new RegExp(`\\b(?:remove|delete) (?:the )?${NAMED}`),
      new RegExp(`${NAMED} should(?: not|n['’]t) be there`),
    ],
    isTrue: (inDraft, inWanted) => inDraft > inWanted,
  },
  {
    kind: 'wording',
    forms: [/\bshould (?:say|read) «(\d{1,4})»/],
    isTrue: (_, inWanted) => inWanted > 0,
  },
];
const MENTION = [new RegExp(NAMED)];
const BACKGROUND =
  /\b(?:background of the (?:whole )?page|page(?:['’]s)? background)(?: colou?r)? (?:should|needs to) be (?:an? )?(.{3,20})/;

function claimOf(sentence: Sentence, reading: OutlineReading): Omit<Claim, 'sentence'> | undefined {
  const { draft, wanted, mistakes } = reading;
  if (/\bnothing (?:else )?(?:is )?left to (?:change|do)\b/.test(sentence.form)) {
    return { isTrue: mistakes.length === 0 };
  }
  for (const { kind, forms, isTrue } of QUOTING) {
    const quote = quoteIn(sentence, forms);
    if (quote === undefined) continue;
    const holds = isTrue(countOf(quote, draft), countOf(quote, wanted));
    return { isTrue: holds, mistake: holds ? mistakeIn(reading, kind, quote) : undefined };
  }
  const background = backgroundIn(sentence, wanted.background);
  if (background !== undefined) {
    const mistake = mistakes.find(({ aspects }) => aspects[0] === 'page background');
    return { isTrue: background, mistake: background ? mistake : undefined };
  }
  // Of several words: one word beside "text" may be a style, as in: the text "bold".
  const mention = quoteIn(sentence, MENTION)?.trim();
  const named = mention?.includes(' ') === true ? mention : undefined;
  const colors = (sentence.form.match(/#[0-9a-f]{6}\b/g) ?? []).map((hex) => paintIn(hex)!.color);
  if (named === undefined && colors.length === 0) return undefined;
  const isThere = named === undefined || countOf(named, draft) + countOf(named, wanted) > 0;
  return { isTrue: isThere && colors.every((color) => hasColor(color, draft) || hasColor(color, wanted)) };
}

function quoteIn({ form, quotes }: Sentence, forms: readonly RegExp[]): string | undefined {
  for (const pattern of forms) {
    const place = pattern.exec(form)?.slice(1).find(Boolean);
    const quote = place === undefined ? undefined : quotes[Number(place)];
    if (quote !== undefined && plain(quote).length > 1) return quote;
  }
  return undefined;
}

/** True if the page that is wanted has the color; undefined if none is named. */
function backgroundIn({ form }: Sentence, wanted: Color): boolean | undefined {
  const words = BACKGROUND.exec(form)?.[1];
  if (words === undefined) return undefined;
  if (/^#[0-9a-f]{6}\b/.test(words))
    return colorDistance(paintIn(words.slice(0, 7))!.color, wanted) < SAME_COLOR;
  const name = colorNames.find((one) => words.startsWith(one) && !/^[\w-]/.test(words.slice(one.length)));
  return name === undefined ? undefined : mayBeNamed(wanted, name);
}

function mistakeIn(
  { mistakes, wanted }: OutlineReading,
  kind: QuotingForm['kind'],
  quote: string,
): Mistake | undefined {
  return mistakes.find(({ aspects: [aspect = ''] }) => {
    if (!aspect.startsWith(kind)) return false;
    const text = kind === 'extra text' ? aspect : wanted.texts[Number(aspect.slice(kind.length))]!.text;
    return plain(text).includes(plain(quote));
  });
}

/** Number of texts that have the quoted words. */
const countOf = (quote: string, { texts }: Outline): number =>
  texts.filter(({ text }) => plain(text).includes(plain(quote))).length;

/** Without what a person drops when quoting: case, spacing, marks at the end. */
function plain(text: string): string {
  const spaced = text.toLowerCase().replace(/\s+/g, ' ').trim();
  let end = spaced.length;
  while (end > 0 && ' .,!?:;…'.includes(spaced[end - 1]!)) end -= 1;
  return spaced.slice(0, end);
}

/** Distance in L*a*b* below which two values are one color. */
const SAME_COLOR = 5;

const hasColor = (color: Color, { background, texts, fills }: Outline): boolean =>
  [
    background,
    ...texts.flatMap((text) => [text.color, text.background]),
    ...fills.map((fill) => fill.color),
  ].some((other) => colorDistance(color, other) < SAME_COLOR);
