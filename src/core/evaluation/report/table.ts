import type { PairedDifference } from '../figureSchemas';
import { figureOf, type Estimate, type Figure } from '../interval';
import { cell as literal, markdownTable } from '../../markdown';
import { grouped } from '../../text';
import { chance, figure, percent, points, signed } from '../words';

// Figures as data: pages, Markdown, CSV and terminals draw the same tables.

/** A sentence of Tandem with `{0}` for each value; a page translates it. */
export interface Sentence {
  readonly sentence: string;
  readonly values: readonly (Words | number)[];
}

/** A text that is shown as it is, or a sentence. */
export type Words = string | Sentence;

/** As `vscode.l10n.t`, but translated only where it is drawn. */
export const t = (sentence: string, ...values: readonly (Words | number)[]): Sentence => ({
  sentence,
  values,
});

interface CellFigure extends Figure {
  /** Number of what it is over. */
  readonly of?: number;
  readonly p?: number;
  /** In place of an interval. */
  readonly remark?: Words;
}

/** Null where there is no value. */
export type Cell = Words | CellFigure | null;

interface Column {
  /** In files, the same in every language. */
  readonly name: string;
  readonly title: Words;
  readonly note?: Words;
  /** In files. A `fraction` is 0 to 1, `points` are a difference of fractions; absent for words. */
  readonly unit?: string;
  readonly digits?: number;
  /** Absent when the values have no bound. */
  readonly most?: number;
  /** Its figures are shown with what they are over. */
  readonly isCounted?: boolean;
  /** Of differences: a positive value has a plus sign. Points always have one. */
  readonly isSigned?: boolean;
}

interface Row {
  readonly name: Words;
  readonly remark?: Words;
  /** Of the judgement that the row gives. */
  readonly icon?: string;
  /** One for each column. */
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly name: Words;
  /** Title of the names of rows. */
  readonly head: Words;
  /** Below it. */
  readonly note?: Words;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

export const COUNT = { unit: 'count' };
export const FRACTION = { unit: 'fraction', digits: 1 };
export const ASK_F1 = { unit: 'score', digits: 2, most: 1 };
export const POINTS = { unit: 'points' };

/** A column and its cells. */
export interface Field<Of> extends Column {
  readonly cell: (of: Of) => Cell;
  /** Left out where no row has a value. */
  readonly isOptional?: boolean;
}

export const field = <Of>(
  name: string,
  title: Words,
  cell: (of: Of) => Cell,
  more: Partial<Field<Of>> = {},
): Field<Of> => ({ name, title, cell, ...more });

export function tableOf<Of>(
  table: Omit<Table, 'columns' | 'rows'>,
  fields: readonly Field<Of>[],
  rows: readonly Of[],
  nameOf: (of: Of) => Omit<Row, 'cells'>,
): Table {
  const shown = fields.filter(
    ({ isOptional, cell }) => !isOptional || rows.some((row) => cell(row) !== null),
  );
  return {
    ...table,
    columns: shown.map((field) => {
      // A page is sent no functions.
      const { cell: _, ...column } = field;
      return column;
    }),
    rows: rows.map((row) => ({ ...nameOf(row), cells: shown.map(({ cell }) => cell(row)) })),
  };
}

export function number(value: Estimate | number | null | undefined, of?: number | null): Cell {
  if (value == null) return null;
  return { ...(typeof value === 'number' ? { value } : figureOf(value)), ...(of != null && { of }) };
}

export function paired(of: PairedDifference | undefined): Cell {
  if (of === undefined) return null;
  const { difference, interval, p, tasks } = of;
  if (difference === null || p === null) return t('no tasks in common');
  return {
    ...{ value: difference, p },
    ...(interval === null ? { remark: t('too few tasks for an interval: {0}', tasks) } : { interval }),
  };
}

export const wordColumn = (title: string): Column => ({ name: title, title });

/** @param translate as `vscode.l10n.t` */
export const inWords = (
  words: Words,
  translate: (sentence: string, ...values: string[]) => string,
): string =>
  typeof words === 'string'
    ? words
    : translate(
        words.sentence,
        ...words.values.map((one) => (typeof one === 'number' ? grouped(one) : inWords(one, translate))),
      );

// Tables for Markdown and terminals, which are in English.

export const inEnglish = (words: Words): string =>
  inWords(words, (sentence, ...values) =>
    sentence.replaceAll(/\{(\d+)\}/g, (_, index) => values[Number(index)]!),
  );

/** Head and rows. */
export const linesOf = ({ head, columns, rows }: Table): string[][] => [
  [head, ...columns.map(({ title }) => title)].map(inEnglish),
  ...rows.map((row) => [nameOf(row), ...row.cells.map((cell, at) => cellIn(cell, columns[at]!))]),
];

export function tableInMarkdown(table: Table): string {
  const [head, ...rows] = linesOf(table).map((line) => line.map(literal));
  return markdownTable(head!, rows);
}

const nameOf = ({ name, remark }: Row): string =>
  [name, ...(remark === undefined ? [] : [remark])].map(inEnglish).join(', ');

function cellIn(cell: Cell, column: Column): string {
  if (cell === null) return '–';
  return isFigure(cell) ? figureInWords(cell, column) : inEnglish(cell);
}

export const isFigure = (cell: Cell): cell is CellFigure =>
  cell !== null && typeof cell === 'object' && 'value' in cell;

/** `31.5 % [27.1, 36.2]`, `+13.7 [+9.1, +18.2], p < 0.001`, `3.1 [2.0, 4.2], n = 8` */
function figureInWords({ of, p, remark, ...value }: CellFigure, column: Column): string {
  return [
    figure(value, (one) => numberIn(one, column)),
    ...(remark === undefined ? [] : [inEnglish(remark)]),
    ...(p === undefined ? [] : [chance(p)]),
    ...(column.isCounted && of !== undefined ? [`n = ${of}`] : []),
  ].join(', ');
}

function numberIn(value: number, { unit, digits = 0, isSigned }: Column): string {
  switch (unit) {
    case 'fraction':
      return percent(value);
    case 'points':
      return points(value);
    case 'count':
      return grouped(value);
    default:
      return isSigned === true ? signed(value, digits) : value.toFixed(digits).replace('-', '−');
  }
}
