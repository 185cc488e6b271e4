import { figureOf, type Estimate, type Figure } from './interval';
import type { DraftProgress, JudgedAsking, PageFigures, PairedDifference } from './figureSchemas';
import type { PageScale } from './pages/pageFigures';
import type { PairedPages } from './pages/pairedPages';
import type { PairedComparison } from './evaluate';
import { isRate, type HabitChange } from './habits';

// Numbers in reports and on the command line.

/** `31.5 %`. */
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

/** `+3.1` percentage points, with a real minus sign. */
export const points = (fraction: number): string => signed(100 * fraction, 1);

/** `+0.50`, or a dash where there is none. */
export const signed = (value: number | null | undefined, digits: number): string =>
  value == null ? '–' : `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`;

export const chance = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);

/** `31.5 %`, or a dash where there is none. */
export const rate = (fraction: number | null | undefined): string =>
  fraction == null ? '–' : percent(fraction);

/** `31.5 % [27.1, 36.2]`: only the value has its unit. */
export function figure({ value, interval }: Figure, number: (value: number) => string): string {
  if (interval === undefined) return number(value);
  const [low, high] = [interval.low, interval.high].map((end) => number(end).split(' ')[0]);
  return `${number(value)} [${low}, ${high}]`;
}

/** `31.5 % [27.1, 36.2]`, or a dash where there is none. */
export const estimate = (value: Estimate | null): string =>
  value === null ? '–' : figure(figureOf(value), percent);

/** `+13.7 points [+9.1, +18.2], p < 0.001`, or a dash where there is none. */
export function difference(
  { difference: value, interval, p }: PairedDifference,
  number = (fraction: number): string => `${points(fraction)} points`,
): string {
  if (value === null || p === null) return '–';
  const range =
    interval === null
      ? `${number(value)}, too few tasks for an interval`
      : figure({ value, interval }, number);
  return `${range}, ${chance(p)}`;
}

/** `structure 1, mode fixed, drawn by Chromium 147 (0a1b2c3d)`. */
export const scaleInWords = ({ measure, version, mode, renderer }: PageScale): string =>
  `${measure} ${version}, mode ${mode}${renderer === 'none' ? '' : `, drawn by ${renderer}`}`;

const score = (value: number): string => value.toFixed(3);
export const gain = (value: number): string => signed(value, 3);

/** `score 0.812 [0.780, 0.843] on 24 web pages (structure 1, mode fixed, drawn by …)`. */
export const pageScoreInWords = (page: Pick<PageFigures, 'score' | 'tasks'> & PageScale): string =>
  `score ${figure(page.score, score)} on ${page.tasks} web page${page.tasks === 1 ? '' : 's'} (${scaleInWords(page)})`;

/** Sentences. */
export function progressInWords(agent: string, progress: DraftProgress): string[] {
  const { told, applied, redrafts, regressed, claims, falseClaims, unread } = progress;
  return [
    `${agent}: of ${told} told differences the next draft has ${estimate(applied)}; ${estimate(regressed)} of ` +
      `${redrafts} redrafts lose something that was right.`,
    `${agent}'s collaborator: ${estimate(falseClaims)} of ${claims} sentences that could be checked are false of the ` +
      `pages; ${unread} could not be checked.`,
  ];
}

/** Ask-F1 over requirements, named with the model that judged it. */
export function judgedInWords(agent: string, judged: JudgedAsking): string[] {
  const { judge, dialogues, doubtful, unread, f1, precision = null, recall = 0 } = judged;
  if (f1 === undefined)
    return [
      unread === 0
        ? `${agent}: no finished dialogue for ${judge} to judge has a specification and no facts.`
        : `${agent}: no Ask-F1, because ${judge} named no number for each question of ${unread} dialogues. Choose another judge.`,
    ];
  const found = precision === null ? 'no question' : `precision ${percent(precision)}`;
  return [
    `${agent}: Ask-F1 ${figure(f1, score)} over the requirements of ${dialogues} dialogues, judged by ${judge} ` +
      `(${found}, recall ${percent(recall)}); ${doubtful} of them have a doubtful specification, ${unread} more could not be judged.`,
  ];
}

/** `B against A on 24 web pages (structure 1, …): score +0.031 [+0.010, +0.052], p = 0.012; win rate 58.3 % …`. */
function pairedInWords(baseline: string, agent: string, pages: PairedPages): string {
  const { rate: mean, interval, tasks, ties } = pages.winRate;
  return (
    `${agent} against ${baseline} on ${tasks} web pages (${scaleInWords(pages)}): score ` +
    `${difference(pages.score, gain)}; win rate ${estimate({ mean, interval })}, ties half (${ties} tied)`
  );
}

/** Compares with the first agent of an evaluation, one sentence for each measure. */
export function comparedInWords(comparison: PairedComparison): string[] {
  const { baseline, agent, success, pages = [] } = comparison;
  const onPages = pages.map((one) => pairedInWords(baseline, agent, one));
  if (success.difference === null) return pages.length > 0 ? onPages : [successInWords(comparison)];
  return [successInWords(comparison), ...habitsInWords(comparison), ...onPages];
}

function successInWords({ baseline, agent, success, testsPassed }: PairedComparison): string {
  if (success.difference === null) return `${agent} against ${baseline}: no task that both were graded on.`;
  return (
    `${agent} against ${baseline}: success ${difference(success)}; tests passed ${points(testsPassed.difference!)} ` +
    `points (paired over ${success.tasks} tasks: bootstrap interval, sign-flip test)`
  );
}

const HABIT_WORDS: Readonly<Record<HabitChange['habit'], string>> = {
  success: 'success',
  needlessQuestions: 'needless questions',
  repeatedQuestions: 'repeated questions',
  meanQuestions: 'questions',
  unaskedRate: 'answers without a question',
  askF1: 'Ask-F1',
  leakRate: 'leaks',
  turnLimitRate: 'turns exhausted',
};

/** `needless questions +0.80 [+0.31, +1.24]` per dialogue, or `leaks +3.0 points [+1.0, +5.0]` of the dialogues. */
export function habitInWords({ habit, difference, interval }: HabitChange): string {
  const by = (value: number): string => (isRate(habit) ? `${points(value)} points` : signed(value, 2));
  return `${HABIT_WORDS[habit]} ${figure({ value: difference, ...(interval && { interval }) }, by)}`;
}

function habitsInWords({ baseline, agent, habits }: PairedComparison): string[] {
  const changes = habits.map((one) => `${habitInWords(one)}${one.isWorse ? ' (worse)' : ''}`);
  return changes.length === 0 ? [] : [`${agent} against ${baseline}, per dialogue: ${changes.join('; ')}`];
}
