import {
  suggested,
  type Draft,
  type FromWebview,
  type LeakWarning,
  type Suggestion,
  type ToWebview,
} from './protocol';
import type { SessionView } from './view';

/** The reply that is being composed: whose words it has, and whether it is on its way. No word of it is lost. */
export class Composition {
  draft: Draft = { text: '' };
  /** The draft is on its way to the log. */
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
    // With its last word a suggestion is forgotten: what is written then is the person's own.
    this.keep(text === '' || suggestion === undefined ? { text } : { text, suggestion });
  }

  /** The simulator's draft takes the place of what was written. */
  take(suggestion: Suggestion): void {
    this.warning = undefined;
    this.keep(suggested(this.draft, suggestion));
  }

  discardSuggestion(): void {
    this.warning = undefined;
    this.keep({ text: this.draft.suggestion?.replaced ?? '' });
  }

  /** @param anyway also when it gives the reference away */
  reply(anyway = false): void {
    this.isSending = true;
    this.warning = undefined;
    this.send({ type: 'reply', draft: this.draft, anyway });
    this.changed();
  }

  /** Whatever became of the reply, its words can be read and copied again. */
  free(): void {
    this.isSending = false;
    this.changed();
  }

  /** The person goes on writing after a warning. */
  edit(): void {
    this.warning = undefined;
    this.keep(this.draft);
  }

  /** Takes in what the host says. @param view after the message */
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

/** A reply is on its way until its turn is in the log, or the host says that it is not. */
function isOnItsWay(view: SessionView | undefined): boolean {
  return (
    view?.state.phase === 'developer' &&
    view.state.notice === undefined &&
    view.turns.at(-1)?.reply === undefined
  );
}
