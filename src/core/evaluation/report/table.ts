import type { Estimate, Figure } from '../interval';

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

export interface CellFigure extends Figure {
  /** Number of what it is over. */
  readonly of?: number;
  readonly p?: number;
  /** In place of an interval. */
  readonly remark?: Words;
}

/** Null where there is no value. */
export type Cell = Words | CellFigure | null;

export interface Column {
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

export interface Row {
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
