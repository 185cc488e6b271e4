/** Figures as the host sends them: the types of `src/core/evaluation/report/table.ts`, which the compiler compares. */

/** A sentence of Tandem in English, with `{0}` for each value. */
export interface Sentence {
  readonly sentence: string;
  readonly values: readonly (Words | number)[];
}

/** A text that is shown as it is, or a sentence. */
export type Words = string | Sentence;

/** A statistic with its 95 % interval, which is absent when there are too few values. */
export interface Figure {
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
  /** Number of what it is over. */
  readonly of?: number;
  readonly p?: number;
  /** In place of an interval. */
  readonly remark?: Words;
}

/** Null where there is no value. */
export type Cell = Words | Figure | null;

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
