import { t, enumerated } from '../language';
import type { GradeView, ModelNames, SessionView, TaskView, ToWebview, TurnView } from './protocol';

/** What a task is about: a developer's own function has no tests. */
export type TaskKind = 'program' | 'own' | 'page';

export function kindOf({ isPage, tests }: TaskView): TaskKind {
  if (isPage === true) return 'page';
  return tests === 0 ? 'own' : 'program';
}

/** Unchanged turns stay the same objects, so that they are not drawn again. */
export function applied(view: SessionView | undefined, message: ToWebview): SessionView | undefined {
  if (message.type === 'snapshot') {
    const { panel, task, state, turns, stream, candidates } = message;
    return { panel, task, state, turns, stream, candidates };
  }
  // The first snapshot contains everything before it.
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
    case 'suggestion':
      // The state that says so comes a moment later; until then Escape would do nothing.
      return { ...view, state: { ...view.state, isSuggesting: false } };
    case 'stream':
      return { ...view, stream: message.stream };
    case 'candidates':
      return { ...view, candidates: message.candidates };
    default:
      return view;
  }
}

function sameNames(before: ModelNames, now: ModelNames): ModelNames {
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
  /** For screen readers; it stays the same while the person types, so that it is read once. */
  readonly warning: string;
}

/** In Unicode code points, as the protocol counts. */
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

/** For screen readers: `7 of 10 tests passed. Not passed: tests 3, 5, 9.` */
export function gradeSaid({ headline, tests }: GradeView): string {
  const failed = tests.flatMap(({ status }, index) => (status === 'passed' ? [] : [index + 1]));
  if (failed.length === 0) return t('{0}.', headline);
  return failed.length === 1
    ? t('{0}. Not passed: test {1}.', headline, failed[0]!)
    : t('{0}. Not passed: tests {1}.', headline, enumerated(failed));
}

/** `7:05`, `1:07:05` */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? [hours, ...parts].join(':') : parts.join(':').replace(/^0/, '');
}
