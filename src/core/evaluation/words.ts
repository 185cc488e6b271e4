import type { Estimate, Figure } from './interval';
import type { AgentFigures, DraftProgress, PageFigures, PairedDifference } from './figureSchemas';
import type { PageScale } from './pages/pageFigures';
import type { PairedPages } from './pages/pairedPages';
import type { PairedComparison } from './evaluate';

// Numbers in reports and on the command line.

/** `31.5 %`. */
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

/** `+3.1` percentage points, with a real minus sign. */
export const points = (fraction: number): string =>
  `${fraction < 0 ? '−' : '+'}${Math.abs(100 * fraction).toFixed(1)}`;

export const chance = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);

/** `31.5 %`, or a dash where there is none. */
export const rate = (fraction: number | null | undefined): string =>
  fraction == null ? '–' : percent(fraction);

/** `31.5 % [27.1, 36.2]`, or a dash where there is none. */
export function estimate(value: Estimate | null): string {
  if (value === null) return '–';
  const { mean, interval } = value;
  return `${percent(mean)} [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
}

/** `+13.7 points [+9.1, +18.2], p < 0.001`, or a dash where there is none. */
export function difference({ difference: by, interval, p }: PairedDifference): string {
  if (by === null) return '–';
  return [`${points(by)} points${rangeOf(interval)}`, ...(p === null ? [] : [chance(p)])].join(', ');
}

const rangeOf = (interval: PairedDifference['interval']): string =>
  interval === null ? '' : ` [${points(interval.low)}, ${points(interval.high)}]`;

/** `structure 1, mode fixed, drawn by Chromium 147 (0a1b2c3d)`. */
export const scaleInWords = ({ measure, version, mode, renderer }: PageScale): string =>
  `${measure} ${version}, mode ${mode}${renderer === 'none' ? '' : `, drawn by ${renderer}`}`;

/** `0.812 [0.780, 0.843]`. */
const scoreInWords = ({ value, interval }: Figure): string =>
  interval === undefined ? score(value) : `${score(value)} [${score(interval.low)}, ${score(interval.high)}]`;

/** `+0.031 [+0.010, +0.052]`. */
const gainInWords = ({ value, interval }: Figure): string =>
  interval === undefined ? gain(value) : `${gain(value)} [${gain(interval.low)}, ${gain(interval.high)}]`;

const score = (value: number): string => value.toFixed(3);
const gain = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;

/** `score 0.812 [0.780, 0.843] on 24 web pages (structure 1, mode fixed, drawn by …)`. */
export const pageScoreInWords = ({
  score,
  tasks,
  ...scale
}: Pick<PageFigures, 'score' | 'tasks'> & PageScale): string =>
  `score ${scoreInWords(score)} on ${tasks} web page${tasks === 1 ? '' : 's'} (${scaleInWords(scale)})`;

type Rows = readonly (readonly string[])[];

/** A table with one row for each agent and scale; empty without pages. */
export function pageRows(agents: readonly AgentFigures[]): Rows {
  const rows = agents.flatMap(({ agent, pages = [] }) =>
    pages.map((page) => [
      ...[agent, String(page.tasks), String(page.dialogues), scoreInWords(page.score)],
      ...[page.meanTurns.toFixed(1), scaleInWords(page)],
    ]),
  );
  return rows.length === 0
    ? []
    : [['web pages', 'tasks', 'dialogues', 'score', 'turns', 'measured by'], ...rows];
}

/** A table with one row for each turn in which drafts were shown; empty without pages. */
export function draftRows(agents: readonly AgentFigures[]): Rows {
  const rows = agents.flatMap(({ agent, pages = [] }) =>
    pages.flatMap((page: PageFigures) =>
      page.drafts.map(({ turn, dialogues, score, gain }) => [
        ...[agent, page.measure, String(turn), String(dialogues), scoreInWords(score)],
        gain === undefined ? '–' : gainInWords(gain),
      ]),
    ),
  );
  return rows.length === 0
    ? []
    : [['drafts', 'measure', 'turn', 'drafts', 'score', 'gain on the draft before'], ...rows];
}

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

/** `B against A on 24 web pages (structure 1, …): score +0.031 [+0.010, +0.052], p = 0.012; win rate 58.3 % …`. */
function pairedInWords(baseline: string, agent: string, pages: PairedPages): string {
  const { score, winRate } = pages;
  const { difference, interval, p } = score;
  const range =
    interval === null ? 'too few tasks for an interval' : `[${gain(interval.low)}, ${gain(interval.high)}]`;
  return (
    `${agent} against ${baseline} on ${winRate.tasks} web pages (${scaleInWords(pages)}): score ${gain(difference!)} ` +
    `${range}, ${chance(p!)}; win rate ${estimate({ mean: winRate.rate, interval: winRate.interval })}, ` +
    `ties half (${winRate.ties} tied)`
  );
}

/** Compares with the first agent of an evaluation, one sentence for each measure. */
export function comparedInWords(comparison: PairedComparison): string[] {
  const { baseline, agent, success, pages = [] } = comparison;
  const onPages = pages.map((one) => pairedInWords(baseline, agent, one));
  return success.difference === null && pages.length > 0 ? onPages : [successInWords(comparison), ...onPages];
}

function successInWords({ baseline, agent, success, testsPassed }: PairedComparison): string {
  const { difference, interval, p, tasks } = success;
  if (difference === null || p === null)
    return `${agent} against ${baseline}: no task that both were graded on.`;
  const range =
    interval === null
      ? 'too few tasks for an interval'
      : `[${points(interval.low)}, ${points(interval.high)}]`;
  return (
    `${agent} against ${baseline}: success ${points(difference)} points ${range}, ` +
    `${chance(p)}; tests passed ${points(testsPassed.difference!)} points ` +
    `(paired over ${tasks} tasks: bootstrap interval, sign-flip test)`
  );
}
