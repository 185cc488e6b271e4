import type { AgentFigures, PairedDifference } from '../figureSchemas';
import type { TrainedComparison, TrainedComparisons } from '../loop/comparison';
import type { PairedFigures } from '../paired';
import type { World } from '../../task/starter/splits';
import { difference, rate } from '../words';
import { draftFields, figureFields, questionFields, uselessField as useless } from './agents';
import { isLost } from '../habits';
import {
  COUNT,
  field,
  FRACTION,
  number,
  paired,
  POINTS,
  t,
  tableOf,
  type Field,
  type Table,
  type Words,
} from './table';

interface Play {
  readonly name: Words;
  readonly figures: AgentFigures;
  readonly since?: PairedFigures;
}

/** A row for each of the four plays. */
const playTable = (
  name: Words,
  fields: readonly Field<Play>[],
  { sampled, greedy }: TrainedComparisons,
): Table =>
  tableOf<Play>(
    { name, head: t('Agent') },
    fields,
    [
      { name: t('Before'), figures: sampled.before },
      { name: t('After'), figures: sampled.after, since: sampled },
      { name: t('Before, greedy'), figures: greedy.before },
      { name: t('After, greedy'), figures: greedy.after, since: greedy },
    ],
    ({ name }) => ({ name }),
  );

/** Success in the first column. */
export function outcomeTable(comparisons: TrainedComparisons, world?: World): Table {
  const { success, testsPassed } = figureFields;
  const passed = world === 'pages' ? 'Checks passed' : testsPassed.title;
  return playTable(
    t('Outcome'),
    [
      success,
      field('vs_base', t('Δ vs. base (points)'), ({ since }) => paired(since?.success), POINTS),
      { ...testsPassed, title: passed },
      field('passed_vs_base', t('Δ vs. base (points)'), ({ since }) => paired(since?.testsPassed), POINTS),
    ],
    comparisons,
  );
}

const { turns, missed, askF1, tokens, turnLimit } = figureFields;
const { lost, bits } = questionFields;

const habits: Readonly<Record<World, readonly Field<Play>[]>> = {
  functions: [turns, missed, useless, askF1, tokens, turnLimit],
  pages: [turns, tokens, turnLimit, ...Object.values(draftFields)],
  'twenty-questions': [turns, useless, lost, bits, tokens, turnLimit],
};

export const habitTable = (comparisons: TrainedComparisons, world: World): Table =>
  playTable('What it does differently', habits[world], comparisons);

/** Those that are counted in each dialogue, where the tasks have them. */
export const countedHabits = (comparisons: TrainedComparisons): Table =>
  playTable(
    'How it plays',
    [turns, missed, useless, lost].map((counted) => ({ ...counted, isOptional: true })),
    comparisons,
  );

const nameOfRound = (title: string, rounds: number): Words =>
  rounds === 1 ? t('{0}, the round before', title) : t('{0}, {1} rounds before', title, rounds);

/** Greedy success on tasks of earlier lessons, and where it fell. */
export const earlierTable = (earlier: NonNullable<TrainedComparisons['earlier']>): Table =>
  tableOf<(typeof earlier)[number]>(
    { name: t('Earlier lessons'), head: t('Tasks of') },
    [
      field('tasks', t('Tasks'), ({ success }) => number(success.tasks), COUNT),
      field('before', t('Before'), ({ before }) => number(before.success), FRACTION),
      field('after', t('After'), ({ after }) => number(after.success), FRACTION),
      field('vs_base', t('Δ vs. base (points)'), (one) => paired(one.success), POINTS),
    ],
    earlier,
    (one) => ({
      name: nameOfRound(one.title, earlier.indexOf(one) + 1),
      ...(isLost(one.success) && { remark: t('unlearned') }),
    }),
  );

/** What training did to a kind of play; nothing that is clear where the 95 % interval contains 0. */
function didTo(play: string, { interval }: PairedDifference): string {
  if (interval !== null && interval.low > 0) return `helped ${play} play`;
  return interval !== null && interval.high < 0
    ? `harmed ${play} play`
    : `made no clear difference to ${play} play`;
}

/** One sentence without its full stop. */
export const verdictOf = ({ sampled, greedy }: TrainedComparisons): string =>
  `Training ${didTo('sampled', sampled.success)} and ${didTo('greedy', greedy.success)}`;

/** `sampled success 31.2 % → 44.9 %, +13.7 points [+9.1, +18.2], p < 0.001`. */
export function successInWords(kind: string, { before, after, success }: TrainedComparison): string {
  const change = `${kind} success ${rate(before.success?.mean)} → ${rate(after.success?.mean)}`;
  return success.difference === null ? change : `${change}, ${difference(success)}`;
}
