import type { Decoder, SequenceRow, UseLogits } from './decoder';
import { bytesPerToken, LogitMemory, OutputGarbage, rowsTogether, type Graph } from './graph';
import { RowBuffers, type BufferedRow } from './rowBuffers';

/** Keeps rows in `RowBuffers`; how a graph reads and writes them is that of the classes below it. */
export abstract class BufferedDecoder implements Decoder {
  /** Number of rows of one run. */
  protected readonly together: number;
  protected readonly rows: RowBuffers;
  protected readonly logits: LogitMemory;
  protected readonly garbage = new OutputGarbage();

  /**
   * @param bytes of the weights
   * @param memoryBytes memory for all else
   */
  constructor(
    protected readonly graph: Graph,
    bytes: number,
    memoryBytes: number,
  ) {
    this.logits = new LogitMemory(graph);
    this.together = rowsTogether(bytes);
    this.rows = new RowBuffers(graph, {
      bytes: memoryBytes,
      bytesFor: (rows, length) => this.bytesFor(rows, length),
    });
  }

  abstract bytesFor(rows: number, length: number): number;

  bytesAtRest(length: number): number {
    return length * bytesPerToken(this.graph);
  }

  get held(): number {
    return this.rows.held;
  }

  open(): SequenceRow {
    return this.rows.open();
  }

  close(row: SequenceRow): void {
    this.rows.close(row as BufferedRow);
  }

  rest(row: SequenceRow): void {
    this.rows.keepApart(row as BufferedRow);
  }

  cut(row: SequenceRow, length: number): void {
    (row as BufferedRow).ids.length = length;
  }

  abstract read(row: SequenceRow, ids: readonly number[]): Promise<Float32Array>;
  abstract step(rows: readonly SequenceRow[], ids: readonly number[], use: UseLogits): Promise<void>;
}
