/** The keys and values of one dialogue. */
export interface SequenceRow {
  /** Tokens that they were computed from. */
  readonly ids: readonly number[];
}

/** Runs a graph for many dialogues, each with its own keys and values. */
export interface Decoder {
  /**
   * Returns the maximum number of bytes for this many rows of up to `length` tokens: as stored, moved, and copied
   * during a run.
   */
  bytesFor(rows: number, length: number): number;
  /** Bytes of keys and values in memory now. */
  readonly held: number;
  /** Creates an empty row. */
  open(): SequenceRow;
  /** Frees a row. */
  close(row: SequenceRow): void;
  /** Called if a row will not be used for a while, so that it keeps no memory of other rows alive. */
  rest(row: SequenceRow): void;
  /** Removes all but the first `length` tokens. */
  cut(row: SequenceRow, length: number): void;
  /** Appends tokens to a row. Returns the logits after the last one, valid until the next call. */
  read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array>;
  /**
   * Appends one token to each row. Calls `use` with the logits of each row, in any order; they are valid until it
   * returns.
   */
  step(rows: readonly SequenceRow[], ids: readonly number[], use: UseLogits): Promise<void>;
}

/**
 * Receives the logits of one row.
 * @param index index of the row among the requested ones
 */
export type UseLogits = (index: number, logits: Float32Array) => void;
