import { t } from '../language';
import { enumerated } from '../language/numbers';
import type {
  Called,
  CandidatesView,
  GradeView,
  PanelState,
  SessionState,
  StreamView,
  TaskView,
  ToWebview,
  TurnView,
} from './protocol';

/** All that the view draws. */
export interface SessionView {
  readonly panel: PanelState;
  readonly task: TaskView;
  readonly state: SessionState;
  readonly turns: readonly TurnView[];
  readonly stream?: StreamView | undefined;
  readonly candidates?: CandidatesView | undefined;
}

/** The view after a message. Turns that did not change stay the same objects, so that they are not drawn again. */
export function applied(view: SessionView | undefined, message: ToWebview): SessionView | undefined {
  if (message.type === 'snapshot') {
    const { panel, task, state, turns, stream, candidates } = message;
    return { panel, task, state, turns, stream, candidates };
  }
  // Whatever comes before the first snapshot is part of it.
  if (view === undefined) return undefined;
  switch (message.type) {
    case 'state':
      return {
        ...view,
        state: { ...message.state, called: sameNames(view.state.called, message.state.called) },
      };
    case 'panel':
      return { ...view, panel: message.panel };
    case 'turn':
      return { ...view, turns: withTurn(view.turns, message.turn) };
    case 'heard':
    case 'earlier':
    case 'suggestion':
    case 'leak-warning':
    case 'not-sent':
      // They change nothing of what is shown of the dialogue.
      return view;
    case 'stream':
      return { ...view, stream: message.stream };
    case 'candidates':
      return { ...view, candidates: message.candidates };
  }
}

/** The object from before where it says the same, so that no turn is drawn again for it. */
function sameNames(before: Called, now: Called): Called {
  return JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

function withTurn(turns: readonly TurnView[], turn: TurnView): readonly TurnView[] {
  const known = turns.some((other) => other.turn === turn.turn);
  return known ? turns.map((other) => (other.turn === turn.turn ? turn : other)) : [...turns, turn];
}

export interface ReplyLength {
  readonly used: number;
  readonly over: number;
  readonly words: string;
  /** Said aloud; the same while a person types on, so that it is said once. */
  readonly warning: string;
}

/** How much of the reply's limit is used, in Unicode code points as the protocol counts. */
export function replyLength(draft: string, limit: number): ReplyLength {
  const used = Array.from(draft.trim()).length;
  const over = Math.max(0, used - limit);
  const near = Math.ceil(limit / 10);
  const warning =
    over > 0
      ? t('More than {0} characters: the reply cannot be sent.', limit)
      : used > limit - near
        ? t('Fewer than {0} characters are left.', near)
        : '';
  const words = over === 0 ? `${used} / ${limit}` : t('{0} / {1} · {2} too many', used, limit, over);
  return { used, over, words, warning };
}

/** The grade as it is said aloud: `7 of 10 tests passed. Not passed: tests 3, 5, 9.` */
export function gradeSaid({ headline, tests }: GradeView): string {
  const failed = tests.flatMap(({ status }, index) => (status === 'passed' ? [] : [index + 1]));
  if (failed.length === 0) return t('{0}.', headline);
  return failed.length === 1
    ? t('{0}. Not passed: test {1}.', headline, failed[0]!)
    : t('{0}. Not passed: tests {1}.', headline, enumerated(failed));
}

/** Minutes and seconds, with hours when there are any. @param milliseconds not negative */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? [hours, ...parts].join(':') : parts.join(':').replace(/^0/, '');
}
