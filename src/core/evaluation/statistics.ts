import type { Outline } from '../trajectory/log';
import { keyOf, type PageScale } from './pages/pageFigures';
import { askFigures, type AskCounts } from './askF1';
import { figureOf, meanFigure, meanRate, medianInterval, taskMeans, wilson, type Figure } from './interval';

export type Grouping = 'agent' | 'pack' | 'collaborator';

export interface StatisticsRow extends Outline {
  readonly asked?: AskCounts | undefined;
}

/** A figure is undefined where no dialogue contributes to it. */
export interface GroupStatistics {
  readonly dialogues: number;
  readonly graded: number;
  /** Tests or checks all pass; averaged per task first. The interval is Wilson's over tasks. Other pages are left out. */
  readonly success?: Figure;
  /** Mean over answered dialogues. */
  readonly turns?: Figure;
  /** Fraction of dialogues in which a reply gave the reference away. */
  readonly leak?: Figure;
  /** Over all decisions and questions of answered dialogues whose tasks have facts; undefined where they are not counted. */
  readonly askF1?: Figure;
  /** Seconds of a developer: the median over dialogues of the mean within each. */
  readonly replySeconds?: Figure;
  /** One entry for each scale, the one with the most dialogues first; absent without scored pages. */
  readonly pages?: readonly ScaleStatistics[];
}

/** Scores of web pages by one scale, averaged per task first; the interval is over tasks. */
interface ScaleStatistics {
  readonly scale: PageScale;
  readonly tasks: number;
  readonly dialogues: number;
  /** 0 to 1. */
  readonly score: Figure;
}

interface Group extends GroupStatistics {
  readonly name: string;
}

export type Unit = 'hour' | 'day' | 'week' | 'month';

interface Period extends GroupStatistics {
  /** Milliseconds since 1970; periods are of local time. */
  readonly from: number;
}

interface Course {
  readonly unit: Unit;
  /** From the oldest to the newest; periods without a dialogue are left out. */
  readonly periods: readonly Period[];
}

/** More groups could not be told apart in a picture. */
export const MAX_GROUPS = 12;

export function courseOf(rows: readonly StatisticsRow[]): Course {
  const unit = unitOf(rows);
  const byPeriod = Map.groupBy(rows, ({ startedAt }) => beginning(startedAt, unit));
  const inOrder = [...byPeriod].sort(([a], [b]) => a - b);
  return { unit, periods: inOrder.map(([from, inside]) => ({ from, ...figuresOf(inside) })) };
}

/** The largest first; at most `MAX_GROUPS`, the last one then holds all others. */
export function groupsOf(rows: readonly StatisticsRow[], grouping: Grouping): Group[] {
  const byName = Map.groupBy(rows, (row) => nameOf(row, grouping));
  const sorted = [...byName].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const largest = sorted.length > MAX_GROUPS ? sorted.slice(0, MAX_GROUPS - 1) : sorted;
  const rest = sorted.slice(largest.length);
  const groups = largest.map(([name, inside]) => ({ name, ...figuresOf(inside) }));
  if (rest.length === 0) return groups;
  return [...groups, { name: `${rest.length} others`, ...figuresOf(rest.flatMap(([, inside]) => inside)) }];
}

function nameOf(row: Outline, grouping: Grouping): string {
  return row[grouping] ?? 'no pack';
}

export function figuresOf(rows: readonly StatisticsRow[]): GroupStatistics {
  const turns = rows.flatMap(({ isAnswered, turns: count }) => (isAnswered ? [count] : []));
  const seconds = rows
    .flatMap(({ replyMs }) => (replyMs === undefined ? [] : [replyMs / 1000]))
    .sort((a, b) => a - b);
  const { success, graded } = successOf(rows);
  const pages = pagesOf(rows);
  const asking = askFigures(
    rows.flatMap(({ task, asked }) => (asked === undefined ? [] : [{ task, ...asked }])),
  );
  const leak = rows.filter(({ leaked }) => leaked).length / rows.length;
  return {
    dialogues: rows.length,
    graded,
    ...(success && { success }),
    ...(asking && { askF1: asking.f1 }),
    ...(turns.length > 0 && { turns: meanFigure(turns) }),
    ...(pages.length > 0 && { pages }),
    ...(rows.length > 0 && { leak: { value: leak, interval: wilson(leak, rows.length) } }),
    ...(seconds.length > 0 && { replySeconds: medianFigure(seconds) }),
  };
}

function successOf(rows: readonly Outline[]): { success?: Figure; graded: number } {
  const graded = rows.filter(({ success }) => success !== null);
  if (graded.length === 0) return { graded: 0 };
  const success = figureOf(meanRate(taskMeans(graded, ({ success: solved }) => Number(solved)))!);
  return { success, graded: graded.length };
}

function pagesOf(rows: readonly Outline[]): ScaleStatistics[] {
  const scored = rows.flatMap(({ task, page }) => (page === undefined ? [] : [{ task, ...page }]));
  return [...Map.groupBy(scored, keyOf).values()]
    .map((ofScale) => {
      const means = taskMeans(ofScale, ({ score }) => score);
      const { mode, measure, version, renderer } = ofScale[0]!;
      return {
        scale: { mode, measure, version, renderer },
        ...{ tasks: means.length, dialogues: ofScale.length },
        score: meanFigure(means),
      };
    })
    .sort((a, b) => b.dialogues - a.dialogues);
}

/** @param sorted at least one value, ascending */
function medianFigure(sorted: readonly number[]): Figure {
  const middle = sorted.length >> 1;
  const value = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  const interval = medianInterval(sorted);
  return { value, ...(interval && { interval }) };
}

const DAY = 24 * 3600 * 1000;

/** Gives a picture some tens of periods at most. */
function unitOf(rows: readonly Outline[]): Unit {
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { startedAt } of rows) {
    first = Math.min(first, startedAt);
    last = Math.max(last, startedAt);
  }
  const days = (last - first) / DAY;
  if (days <= 2) return 'hour';
  if (days <= 60) return 'day';
  return days <= 366 ? 'week' : 'month';
}

/** Local time; weeks begin on Monday. */
function beginning(at: number, unit: Unit): number {
  const date = new Date(at);
  if (unit === 'hour') return date.setMinutes(0, 0, 0);
  if (unit === 'week') date.setDate(date.getDate() - ((date.getDay() + 6) % 7));
  if (unit === 'month') date.setDate(1);
  return date.setHours(0, 0, 0, 0);
}
