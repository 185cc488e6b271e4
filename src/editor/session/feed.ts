import { isDeepStrictEqual } from 'node:util';
import type {
  CandidatesView,
  SessionState,
  StreamView,
  ToWebview,
  TurnView,
} from '../../../webview/session/protocol';

/** How often a message that is being written is sent to the view; a screen shows no more. */
const STREAM_INTERVAL_MS = 40;

/** What the view of a session has been shown, and what tells it of changes. */
export class Feed {
  turns: TurnView[] = [];
  stream: StreamView | undefined;
  candidates: CandidatesView | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly listeners = new Set<(message: ToWebview) => void>();

  listen(listener: (message: ToWebview) => void): { dispose: () => void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  emit(message: ToWebview): void {
    for (const listener of this.listeners) listener(message);
  }

  showState(state: SessionState): void {
    this.emit({ type: 'state', state });
  }

  /** A turn that is in the log; whatever was being written is part of it now. */
  showTurn(turn: TurnView): void {
    this.turns[turn.turn - 1] = turn;
    this.showStream(undefined);
    this.emit({ type: 'turn', turn });
  }

  /** The turns as the log has them; those that are shown so already are left alone. */
  showTurns(turns: readonly TurnView[]): void {
    const before = this.turns;
    this.turns = [...turns];
    for (const turn of turns) {
      if (!isDeepStrictEqual(before[turn.turn - 1], turn)) this.emit({ type: 'turn', turn });
    }
  }

  showStream(stream: StreamView | undefined): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.stream === undefined && stream === undefined) return;
    this.stream = stream;
    this.emit(stream === undefined ? { type: 'stream' } : { type: 'stream', stream });
  }

  /** As `showStream`, at most once in an interval. */
  showStreamSoon(view: () => StreamView): void {
    this.timer ??= setTimeout(() => this.showStream(view()), STREAM_INTERVAL_MS);
  }

  showCandidates(candidates: CandidatesView | undefined): void {
    if (this.candidates === undefined && candidates === undefined) return;
    this.candidates = candidates;
    this.emit(candidates === undefined ? { type: 'candidates' } : { type: 'candidates', candidates });
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listeners.clear();
  }
}
