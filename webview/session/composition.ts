import {
  suggested,
  type Draft,
  type FromWebview,
  type LeakWarning,
  type Suggestion,
  type ToWebview,
} from './protocol';
import type { SessionView } from './view';

/** The reply that is being composed: its text, its origin, and its sending. No text is lost on the way. */
export class Composition {
  draft: Draft = { text: '' };
  /** The draft was sent and is not yet in the log. */
  isSending = false;
  warning: LeakWarning | undefined;

  /** @param changed called after every change */
  constructor(
    private readonly send: (message: FromWebview) => void,
    private readonly changed: () => void,
  ) {}

  write(text: string): void {
    this.warning = undefined;
    const { suggestion } = this.draft;
    // An emptied draft forgets its suggestion: what is written afterwards is the person's own.
    this.keep(text === '' || suggestion === undefined ? { text } : { text, suggestion });
  }

  /** Replaces the text by the simulator's draft, and remembers it. */
  take(suggestion: Suggestion): void {
    this.warning = undefined;
    this.keep(suggested(this.draft, suggestion));
  }

  discardSuggestion(): void {
    this.warning = undefined;
    this.keep({ text: this.draft.suggestion?.replaced ?? '' });
  }

  /**
   * Locks the text until the reply is in the log, and returns the message that sends it.
   * @param anyway sends the reply even when it gives the reference away
   */
  reply(anyway = false): FromWebview {
    this.isSending = true;
    this.warning = undefined;
    this.changed();
    return { type: 'reply', draft: this.draft, anyway };
  }

  /** Unlocks the text, so that it can be read and copied whatever became of the reply. */
  free(): void {
    this.isSending = false;
    this.changed();
  }

  /** Lets the person go on writing after a warning. */
  edit(): void {
    this.warning = undefined;
    this.keep(this.draft);
  }

  /** Applies a message of the host. @param view the view after the message */
  receive(message: ToWebview, view: SessionView | undefined): void {
    if (message.type === 'snapshot') {
      this.draft = message.draft;
      this.isSending = false;
      this.warning = message.warning;
    }
    if (message.type === 'suggestion') this.take(message.suggestion);
    if (message.type === 'leak-warning') {
      this.isSending = false;
      this.warning = { percent: message.percent, passages: message.passages };
    }
    if (message.type === 'not-sent') this.isSending = false;
    if (message.type === 'turn') this.warning = undefined;
    if (message.type === 'turn' && message.turn.reply?.seat === 'developer' && this.isSending) this.write('');
    if (message.type === 'turn' || message.type === 'state') this.isSending &&= isOnItsWay(view);
    this.changed();
  }

  private keep(draft: Draft): void {
    this.draft = draft;
    this.send({ type: 'draft', draft });
    this.changed();
  }
}

/** A reply is on its way until its turn is in the log, or a notice of the host says why it is not. */
function isOnItsWay(view: SessionView | undefined): boolean {
  return (
    view?.state.phase === 'developer' &&
    view.state.notice === undefined &&
    view.turns.at(-1)?.reply === undefined
  );
}

/**
 * Walks through earlier replies with the arrow keys, as a shell does: up from an empty composer, and on from a reply
 * that was recalled and not changed.
 *
 * @param replies from the oldest to the newest
 * @returns the new text of the composer; undefined when the key is the composer's own
 */
export function recalled(replies: readonly string[], draft: string, key: string): string | undefined {
  // Each reply counts once, at its last place, so that the draft alone tells how far the walk has come.
  const past = replies.filter((reply, index) => replies.lastIndexOf(reply) === index);
  const here = draft === '' ? past.length : past.indexOf(draft);
  if (here === -1) return undefined;
  if (key === 'ArrowUp') return past[here - 1];
  if (key === 'ArrowDown' && here < past.length) return past[here + 1] ?? '';
  return undefined;
}
