export interface SequenceRow {
  /** Tokens that they were computed from. */
  readonly ids: readonly number[];
}

export interface Decoder {
  /** Upper bound for this many used rows of up to `length` tokens: as stored, moved, and copied during a run. */
  bytesFor(rows: number, length: number): number;
  /** Upper bound for a row of `length` tokens that rests. */
  bytesAtRest(length: number): number;
  /** True if `step` can give probabilities. */
  readonly givesProbabilities: boolean;
  /** Bytes of keys and values in memory now. */
  readonly held: number;
  open(): SequenceRow;
  close(row: SequenceRow): void;
  /** The row will not be used for a while and must keep no memory of other rows alive. */
  rest(row: SequenceRow): void;
  /** Keeps the first `length` tokens. */
  cut(row: SequenceRow, length: number): void;
  /** Returns the logits after the last token, valid until the next call. */
  read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array>;
  /** Appends one token to each row. Calls `use` in any order; the scores are valid until it returns. */
  step(rows: readonly SequenceRow[], ids: readonly number[], use: UseScores, kind?: ScoreKind): Promise<void>;
}

/** What a step computes for each token of the vocabulary. */
export type ScoreKind = 'logits' | 'probabilities';

/**
 * @param index index of the row among the requested ones
 * @param scores one per token of the vocabulary: logits, or probabilities where they were asked for
 */
export type UseScores = (index: number, scores: Float32Array) => void;
