import { splitGrowingDraft } from '../../core/dialogue/drafts';
import type { AgentReading } from '../../core/dialogue/agentMessage';
import type { GrowingText } from '../../core/growingText';
import type { GenerateOptions } from '../../core/model/model';
import type { StreamView, TurnView } from '../../../webview/session/protocol';
import { cut, withAnswer } from '../../views/turnView';

/** Milliseconds between updates of a message that is being written; a screen shows no more. */
const STREAM_INTERVAL_MS = 40;
/** Maximum number of characters shown of a message that is being written, because it is drawn many times a second. */
const MAX_STREAMED_CHARS = 10_000;
/** Maximum number of characters shown of thoughts: the last ones. */
const MAX_STREAMED_THOUGHTS = 600;

/** Shows a message while it is written, without parsing again what is parsed already. */
export class Streaming {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly onStream: (stream: StreamView) => void) {}

  /** What a failed attempt has brought stays in sight until the next one brings something. */
  async show<Text extends { push: (piece: string) => void }>(
    Begun: new () => Text,
    view: (text: Text) => StreamView,
    ask: (streams: Pick<GenerateOptions, 'onText' | 'onRestart'>) => Promise<unknown>,
  ): Promise<void> {
    let text = new Begun();
    let shown = view(text);
    const show = (retrying?: StreamView['retrying']): void => {
      if (this.timer !== undefined) shown = view(text);
      this.dispose();
      this.onStream({ ...shown, ...(retrying && { retrying }) });
    };
    try {
      await ask({
        onText: (piece) => {
          text.push(piece);
          this.timer ??= setTimeout(show, STREAM_INTERVAL_MS);
        },
        onRestart: (_why, attempt) => {
          show(attempt && { number: attempt.number, of: attempt.of, why: reasonOf(attempt.after) });
          text = new Begun();
        },
      });
    } catch (error) {
      if (this.timer !== undefined) show();
      throw error;
    } finally {
      this.dispose();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}

function reasonOf(code: string): NonNullable<StreamView['retrying']>['why'] {
  if (code === 'model/rate-limited') return 'busy';
  return code === 'model/unreachable' || code === 'model/timed-out' ? 'connection' : 'server';
}

/** Shows the words of a message to a page task while it is written, and how long its page is so far. */
export function pageStream(reading: AgentReading, earlier: readonly TurnView[]): StreamView {
  const stream = agentStream(reading, earlier);
  if (stream.thoughts !== undefined) {
    // An agent may write its page without `OUTPUT:`.
    const { words, characters } = splitGrowingDraft(reading.text.slice(0, reading.text.length));
    return { ...stream, thoughts: endOf(words), ...(characters > 0 && { page: characters }) };
  }
  const { words, characters } = splitGrowingDraft(stream.text);
  if (characters === 0) return { ...stream, text: words };
  return { ...stream, text: words, left: undefined, page: characters + (stream.left ?? 0) };
}

function endOf(text: string | GrowingText): string {
  const { length } = text;
  const end = text.slice(Math.max(0, length - MAX_STREAMED_THOUGHTS));
  return length <= MAX_STREAMED_THOUGHTS ? end : `…${end.slice(end.search(/\s/))}`;
}

/** Before `OUTPUT:` the text counts as thoughts, unless this agent wrote none in its earlier turns. */
export function agentStream(reading: AgentReading, earlier: readonly TurnView[]): StreamView {
  const { thinking, before, answer, left } = reading.beginning(MAX_STREAMED_CHARS);
  const undecided = thinking === 0 && answer === undefined && !reading.hasOutput;
  const writesNone = earlier.length > 0 && earlier.every((turn) => turn.thoughts === '');
  if (undecided && !writesNone) {
    const { length } = reading.text;
    return { by: 'agent', text: '', thinking: length, ...(length > 0 && { thoughts: endOf(reading.text) }) };
  }
  const said = cut(answer === undefined ? before : withAnswer(before, answer), MAX_STREAMED_CHARS);
  const all = said.left + left;
  return { by: 'agent', text: said.shown, thinking, ...(all > 0 && { left: all }) };
}

export function simulatorStream(text: GrowingText): StreamView {
  const left = text.length - MAX_STREAMED_CHARS;
  return { by: 'simulator', text: text.slice(0, MAX_STREAMED_CHARS), thinking: 0, ...(left > 0 && { left }) };
}
