import { tokenize, TokenType, type CSSToken } from '@csstools/css-tokenizer';
import { wordsIn } from '../text';

/** Functions that load something, by their names without escapes and vendor prefixes. */
const LOADING_FUNCTIONS: ReadonlySet<string> = new Set(
  wordsIn('url src image image-set cross-fade element paint expression'),
);

/** At-rules that load something. An unknown at-rule is ignored by browsers, with all that belongs to it. */
const LOADING_RULES: ReadonlySet<string> = new Set(wordsIn('import namespace font-face property charset'));
const NO_RULE = '@removed';

const name = (text: string): string => text.toLowerCase().replace(/^-[a-z]+-/, '');

/**
 * A style sheet or the value of a `style` attribute in which nothing has an address. Pictures become placeholders; a
 * function that would load something else becomes an empty `url()`. Decided on tokens, because escapes hide names.
 */
export function withoutAddresses(css: string): string {
  const tokens = tokenize({ css });
  let clean = '';
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    if (token[0] === TokenType.URL) clean += asUrl(token[4].value);
    else if (token[0] === TokenType.BadURL) clean += 'url()';
    else if (token[0] === TokenType.Function && LOADING_FUNCTIONS.has(name(token[4].value))) {
      const end = endOfFunction(tokens, i);
      const address = tokens.slice(i, end).find((inner) => inner[0] === TokenType.String);
      clean += asUrl(address?.[0] === TokenType.String ? address[4].value : '');
      i = end;
    } else if (token[0] === TokenType.AtKeyword && LOADING_RULES.has(name(token[4].value))) clean += NO_RULE;
    else clean += token[1];
  }
  // The end of a style element inside a string would end the sheet in a browser.
  return clean.replaceAll('</', '<\\/');
}

/** @returns the index of the function's closing parenthesis, or of the last token */
function endOfFunction(tokens: readonly CSSToken[], start: number): number {
  let depth = 0;
  for (let i = start; i < tokens.length; i++) {
    const [type] = tokens[i]!;
    if (type === TokenType.Function || type === TokenType.OpenParen) depth++;
    else if (type === TokenType.CloseParen && --depth === 0) return i;
  }
  return tokens.length - 1;
}

function asUrl(address: string): string {
  if (/^\s*#[\w-]+\s*$/.test(address)) return `url(${address.trim()})`;
  if (isOwnPicture(address)) return `url("${address.replace(/["\\\n]/g, encodeURIComponent)}")`;
  return /^\s*(?:https?:)?\/\//i.test(address) ? `url("${placeholder(address)}")` : 'url()';
}

/** The agent is told to take its pictures from this host, with their size in the address. */
const PICTURE_HOST =
  /^(?:https?:)?\/\/picsum\.photos\/(?:id\/\d+\/|seed\/[^/]+\/)?(\d{1,4})(?:\/(\d{1,4}))?/i;

/**
 * A picture for an address: itself if it is `data:`, otherwise a placeholder of the size that an address on the agent's
 * picture host asks for (a broken tail such as `/300/200-estate` is ignored), or else of 300 × 200 CSS pixels.
 */
export const pictureAt = (address: string): string =>
  isOwnPicture(address) ? address : placeholder(address);

/** An SVG as a data URL: grey, with its diagonals, so that it is seen to stand for a picture and where it is cropped. */
function placeholder(address: string): string {
  const [, asked = '', askedHeight = asked] = PICTURE_HOST.exec(address.trim()) ?? [];
  const hasSize = Number(asked) > 0 && Number(askedHeight) > 0;
  const [width, height] = hasSize ? [Number(asked), Number(askedHeight)] : [300, 200];
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<rect width="100%" height="100%" fill="#c8ccd2"/>` +
    `<path d="M0 0L${width} ${height}M${width} 0L0 ${height}" stroke="#a7adb6"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** A picture that the page brings along. */
const isOwnPicture = (address: string): boolean =>
  /^\s*data:image\/(?:png|jpeg|webp|gif|svg\+xml)[;,]/i.test(address);
