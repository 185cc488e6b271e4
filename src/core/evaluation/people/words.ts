import { estimate } from '../words';
import type { Alpha } from './alpha';
import type { PeoplesAgreement } from './agreement';
import type { MeasureAgreement } from './measures';
import type { Opinions } from './opinions';

/** `0.74 [0.52, 0.88]`, or a dash where alpha is not known. */
export function alphaInWords({ alpha, interval }: Alpha): string {
  if (alpha === undefined) return '–';
  return interval ? `${number(alpha)} [${number(interval.low)}, ${number(interval.high)}]` : number(alpha);
}

/** Two digits and a real minus sign. */
const number = (value: number): string =>
  value
    .toFixed(2)
    .replace(/^-(?=.*[1-9])/, '−')
    .replace('-', '');

/** A sentence; undefined where there is an alpha. */
export function whyNoAlpha({ alpha, units }: Alpha): string | undefined {
  if (alpha !== undefined) return undefined;
  return units === 0
    ? 'Nothing was judged by two people yet.'
    : 'All judged the same, so agreement cannot be told from chance.';
}

/** `unsettled`: the interval is too wide to say. */
export type Reliance = 'good' | 'fair' | 'poor' | 'unsettled';

/** Krippendorff's customary limits (Content Analysis, 2004, section 11.3.4). */
const GOOD = 0.8;
const FAIR = 0.667;

/** Undefined while there is no interval. */
export function reliance({ interval }: Alpha): Reliance | undefined {
  if (interval === undefined) return undefined;
  if (interval.low >= GOOD) return 'good';
  if (interval.low >= FAIR) return 'fair';
  return interval.high < FAIR ? 'poor' : 'unsettled';
}

/** `3 turns`. */
export function judgedInWords(kind: keyof Opinions, { units }: Alpha): string {
  const [one, many] = {
    stars: ['dialogue', 'dialogues'],
    thumbs: ['turn', 'turns'],
    choices: ['pair of candidates', 'pairs of candidates'],
  }[kind] as [string, string];
  return `${units} ${units === 1 ? one : many}`;
}

/** Names the number of tasks on which people's success compares; undefined with fewer than two players. */
export function sharedInWords({ people, shared }: PeoplesAgreement): string | undefined {
  if (people.filter(({ tasks }) => tasks > 0).length < 2) return undefined;
  return shared === 0
    ? 'No task was played by all of them, so their success cannot be compared.'
    : `Success is compared only on tasks that all of them played: ${shared}.`;
}

/** `structure 1, drawn by Chromium 147 (0a1b2c3d)`. */
export const measureInWords = ({ measure, version, renderer }: MeasureAgreement): string =>
  `${measure} ${version}${renderer === 'none' ? '' : `, drawn by ${renderer}`}`;

/** `71.4 % [45.4, 88.3]`, or a dash without a choice. */
export const measureRateInWords = ({ rate: value, interval }: MeasureAgreement): string =>
  estimate(value === null ? null : { mean: value, interval });
