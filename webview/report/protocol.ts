/**
 * Figures as the host sends them. These are the types of `src/core/evaluation/report/table.ts`, which explains them: no
 * page imports the core, and the compiler compares them where a table is sent.
 */

export interface Sentence {
  readonly sentence: string;
  readonly values: readonly (Words | number)[];
}

export type Words = string | Sentence;

export interface Figure {
  readonly value: number;
  readonly interval?: { readonly low: number; readonly high: number };
  readonly of?: number;
  readonly p?: number;
  readonly remark?: Words;
}

export type Cell = Words | Figure | null;

export interface Column {
  readonly name: string;
  readonly title: Words;
  readonly note?: Words;
  readonly unit?: string;
  readonly digits?: number;
  readonly most?: number;
  readonly isCounted?: boolean;
  readonly isSigned?: boolean;
}

export interface Row {
  readonly name: Words;
  readonly remark?: Words;
  readonly icon?: string;
  readonly cells: readonly Cell[];
}

export interface Table {
  readonly name: Words;
  readonly head: Words;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}
