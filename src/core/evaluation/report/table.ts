import type { Estimate, Figure } from '../interval';
import { cell as literal, markdownTable } from '../../markdown';
import { grouped } from '../../text';
import { chance, percent, points } from '../words';

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
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

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
  table: Pick<Table, 'name' | 'head'>,
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

export const number = (value: number | null, of?: number | null): Cell =>
  value === null ? null : { value, ...(of != null && { of }) };

export const estimated = (estimate: Estimate | null, of?: number): Cell =>
  estimate && { value: estimate.mean, interval: estimate.interval, ...(of !== undefined && { of }) };

export const wordColumn = (title: string): Column => ({ name: title, title });

// Tables for Markdown and terminals, which are in English.

export const inEnglish = (words: Words): string =>
  typeof words === 'string'
    ? words
    : words.sentence.replaceAll(/\{(\d+)\}/g, (_, index: string) => {
        const value = words.values[Number(index)]!;
        return typeof value === 'number' ? grouped(value) : inEnglish(value);
      });

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
  return typeof cell === 'object' && 'value' in cell ? figureIn(cell, column) : inEnglish(cell);
}

/** `31.5 % [27.1, 36.2]`, `+13.7 [+9.1, +18.2], p < 0.001`, `3.1 [2.0, 4.2], n = 8` */
function figureIn({ value, interval, of, p, remark }: CellFigure, column: Column): string {
  const { isCounted } = column;
  const bare = (one: number): string => numberIn(one, column).replace(' %', '');
  return [
    numberIn(value, column) + (interval ? ` [${bare(interval.low)}, ${bare(interval.high)}]` : ''),
    ...(remark === undefined ? [] : [inEnglish(remark)]),
    ...(p === undefined ? [] : [chance(p)]),
    ...(isCounted && of !== undefined ? [`n = ${of}`] : []),
  ].join(', ');
}

function numberIn(value: number, { unit, digits = 0 }: Column): string {
  switch (unit) {
    case 'fraction':
      return percent(value);
    case 'points':
      return points(value);
    case 'count':
      return grouped(value);
    default:
      return value.toFixed(digits).replace('-', '−');
  }
}
