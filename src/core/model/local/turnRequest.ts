import type { SamplingSettings } from '../model';
import type { Guide } from './guidance';
import type { Opening } from './opening';
import type { FinishedTurn, TurnPiece } from './protocol';

export interface TurnRequest {
  readonly promptIds: readonly number[];
  readonly sampling: SamplingSettings;
  readonly alternatives: number;
  readonly guide?: Guide<readonly number[]>;
  /** Of a turn whose beginning is given. */
  readonly opening?: Opening;
  readonly onText?: (piece: TurnPiece) => void;
  readonly onDone: (turn: FinishedTurn) => void;
  readonly onFailed: (reason: unknown) => void;
}

export interface StartedTurn {
  /** Ends the turn without an answer. */
  cancel(): void;
  /** Ends the turn with the text so far. */
  finish(): void;
}
