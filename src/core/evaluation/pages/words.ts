import type { AgentFigures } from '../figures';
import type { Figure } from '../interval';
import { chance, estimate } from '../words';
import type { DraftProgress } from './draftProgress';
import type { PageFigures } from './pageFigures';
import type { PageScale } from './pageScale';
import type { PairedPages } from './pairedPages';

/** `structure 1, mode fixed, drawn by Chromium 147 (0a1b2c3d)`. */
export const scaleInWords = ({ measure, version, mode, renderer }: PageScale): string =>
  `${measure} ${version}, mode ${mode}${renderer === 'none' ? '' : `, drawn by ${renderer}`}`;

/** `0.812 [0.780, 0.843]`. */
export const scoreInWords = ({ value, interval }: Figure): string =>
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
export function pairedInWords(baseline: string, agent: string, pages: PairedPages): string {
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
