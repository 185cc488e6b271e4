import { editorApi, isNumber, isText, part } from '../editorApi';
import {
  suggested,
  type Action,
  type Draft,
  type FromWebview,
  type LeakWarning,
  type PanelState,
  type Suggestion,
  type ToWebview,
  type TurnView,
  type SessionView,
} from './protocol';
import type { Pin } from '../pages/protocol';

/** Then the host counts as gone; even one that is busy with a huge log is faster. */
const SILENT_AFTER_MS = 10_000;

type Kept = PanelState & { readonly elapsed?: Elapsed };

interface Elapsed {
  readonly episode: string;
  readonly milliseconds: number;
}

const isElapsed = (value: unknown): value is Elapsed =>
  part(value, 'episode', isText) !== undefined && part(value, 'milliseconds', isNumber) !== undefined;

const api = editorApi<FromWebview, Kept>();
let kept: Kept = {};

/** Without the extension host the page still looks alive, but its messages no longer arrive. */
export class Answering {
  isSilent = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly changed: () => void) {}

  /** Call this after each message to the host, which acknowledges it. */
  asked(): void {
    this.timer ??= setTimeout(() => this.is(true), SILENT_AFTER_MS);
  }

  /** Call this after each message from the host. */
  heard(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.is(false);
  }

  private is(silent: boolean): void {
    if (this.isSilent === silent) return;
    this.isSilent = silent;
    this.changed();
  }
}

export const host = {
  onSilence: (): void => undefined,
  answering: new Answering(() => host.onSilence()),
  send(message: FromWebview): void {
    api.postMessage(message);
    host.answering.asked();
  },
  act: (action: Action): void => host.send({ type: 'act', action }),
  keep: (state: PanelState): void => {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    kept = { ...state, ...(elapsed && { elapsed }) };
    api.setState(kept);
  },
  /** In milliseconds; 0 when it was not kept. */
  elapsed(episode: string | undefined): number {
    const elapsed = part(api.getState(), 'elapsed', isElapsed);
    return elapsed !== undefined && elapsed.episode === episode ? elapsed.milliseconds : 0;
  },
  keepElapsed(episode: string | undefined, milliseconds: number): void {
    if (episode !== undefined) api.setState({ ...kept, elapsed: { episode, milliseconds } });
  },
};

/** No text is lost on the way to the log. */
export class Composition {
  draft: Draft = { text: '' };
  /** The draft was sent and is not yet in the log. */
  isSending = false;
  warning: LeakWarning | undefined;

  constructor(private readonly changed: () => void) {}

  /** A pin that the text no longer names is removed. */
  write(text: string): void {
    this.warning = undefined;
    const { suggestion, pins = [], isAnswer } = this.draft;
    // An emptied draft forgets its suggestion: what is written afterwards is the person's own.
    const kept = text === '' || suggestion === undefined ? {} : { suggestion };
    this.keep({ ...kept, ...withoutUnnamed(text, pins), ...(isAnswer && { isAnswer }) });
  }

  /** @param caret place in the text where a new pin is named @returns the caret after the change */
  pin(pins: readonly Pin[], caret: number): number {
    this.warning = undefined;
    const pinned = withPins(this.draft, pins, caret);
    this.keep({ ...this.draft, text: pinned.text, pins });
    return pinned.caret;
  }

  take(suggestion: Suggestion): void {
    this.warning = undefined;
    this.keep(suggested(this.draft, suggestion));
  }

  /** The text stays when a person who plays the agent goes from asking to answering, and back. */
  answers(isAnswer: boolean): void {
    this.keep({ text: this.draft.text, ...(isAnswer && { isAnswer }) });
  }

  discardSuggestion(): void {
    this.warning = undefined;
    const { pins } = this.draft;
    this.keep({ text: this.draft.suggestion?.replaced ?? '', ...(pins && { pins }) });
  }

  /** Locks the text until it is in the log. @param anyway sends even a reply that gives the reference away */
  send(anyway = false): void {
    this.isSending = true;
    this.warning = undefined;
    this.changed();
    const { suggestion, text, pins = [], isAnswer } = this.draft;
    const draft = {
      ...(suggestion && { suggestion }),
      ...withoutUnnamed(text, pins),
      ...(isAnswer && { isAnswer }),
    };
    host.send({ type: 'reply', draft, anyway });
  }

  /** The text can be read and copied, whatever became of the reply. */
  free(): void {
    this.isSending = false;
    this.changed();
  }

  edit(): void {
    this.warning = undefined;
    this.keep(this.draft);
  }

  /** @param view the view after the message */
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
    if (message.type === 'turn' && this.isLogged(message.turn, view)) this.write('');
    if (message.type === 'turn' || message.type === 'state') this.isSending &&= isOnItsWay(view);
    this.changed();
  }

  /** A reloaded page does not know that its reply was on the way, but finds its text in the last turn. */
  private isLogged({ turn, reply }: TurnView, view: SessionView | undefined): boolean {
    if (view?.state.seat === 'agent') return this.isSending;
    if (reply?.seat !== 'developer') return false;
    const isLast = turn === view?.turns.at(-1)?.turn;
    return this.isSending || (isLast && reply.text === this.draft.text.trim());
  }

  private keep(draft: Draft): void {
    this.draft = draft;
    host.send({ type: 'draft', draft });
    this.changed();
  }
}

/** A reply is on its way until its turn is in the log, or a notice of the host says why it is not. */
function isOnItsWay(view: SessionView | undefined): boolean {
  if (view === undefined || view.state.notice !== undefined) return false;
  const { phase } = view.state;
  return phase === 'asking' || (phase === 'developer' && view.turns.at(-1)?.reply === undefined);
}

/** A text that names its pins by their numbers: `[1] the heading “Welcome”: bigger`. */
type Pinned = Pick<Draft, 'text' | 'pins'>;

const nameOf = (number: number): string => `[${number}]`;

/** Leaves out the pins that the text does not name; the others are numbered anew, in the text as well. */
export function withoutUnnamed(text: string, pins: readonly Pin[]): Pinned {
  const kept = pins.flatMap((pin, index) =>
    text.includes(nameOf(index + 1)) ? [{ pin, before: index + 1 }] : [],
  );
  if (kept.length === 0) return { text };
  return {
    text: renumbered(text, new Map(kept.map(({ before }, index) => [before, index + 1]))),
    pins: kept.map(({ pin }) => pin),
  };
}

/**
 * Names a pin that is new in the text, at the caret; takes one that is gone out of it.
 * @param pins those of the draft with one more at the end, or one less
 */
export function withPins(
  { text, pins: before = [] }: Pinned,
  pins: readonly Pin[],
  caret: number,
): { readonly text: string; readonly caret: number } {
  const added = pins.length > before.length ? pins.at(-1) : undefined;
  if (added !== undefined) {
    const [start, end] = [text.slice(0, caret), text.slice(caret)];
    const gap = start === '' || /\s$/.test(start) ? '' : ' ';
    const name = `${gap}${nameOf(pins.length)} ${added.words}: `;
    return { text: start + name + end, caret: caret + name.length };
  }
  const gone = before.findIndex((pin, index) => pins[index] !== pin);
  const words = before[gone] === undefined ? '' : ` ${before[gone].words}:`;
  const without = text
    .replace(`${nameOf(gone + 1)}${words} `, '')
    .replace(`${nameOf(gone + 1)}${words}`, '')
    .replaceAll(nameOf(gone + 1), '');
  const numbers = new Map(before.map((_, index) => [index + 1, index < gone ? index + 1 : index]));
  const now = renumbered(without, numbers);
  return { text: now, caret: Math.min(caret, now.length) };
}

const renumbered = (text: string, numbers: ReadonlyMap<number, number>): string =>
  text.replace(/\[(\d{1,2})\]/g, (name, number: string) => {
    const now = numbers.get(Number(number));
    return now === undefined ? name : nameOf(now);
  });
