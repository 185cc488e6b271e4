import { t } from '../language';
import type { Action, FromWebview, Phase, Picked, SessionView } from './protocol';

/** As in `aria-keyshortcuts`. */
export const keys = {
  send: 'Enter',
  primary: 'Enter',
  answer: 'Control+Enter',
  stop: 'Escape',
  discard: 'Escape',
  suggest: 'Alt+S',
  dontMind: 'Alt+D',
  simulatorOnce: 'Alt+A',
  simulatorOn: 'Alt+Shift+A',
  takeSeat: 'Alt+I',
  anotherSample: 'Alt+R',
  endNow: 'Alt+N',
  skip: 'Alt+K',
  goodMessage: 'Alt+G',
  badMessage: 'Alt+B',
  compare: 'Alt+C',
  playAgain: 'Alt+P',
  chooseA: '1',
  chooseB: '2',
  neither: '0',
  equal: '=',
  pin: 'Alt+L',
  listKeys: '?',
} as const;

export const listed: readonly { readonly keys: readonly string[]; readonly does: string }[] = [
  { keys: [keys.send], does: t('Send the reply; elsewhere the primary button') },
  { keys: [keys.answer], does: t('Answer, where you play the agent') },
  { keys: [keys.stop], does: t('Stop generating or testing') },
  { keys: [keys.suggest], does: t('Suggest a reply') },
  { keys: [keys.dontMind], does: t('No preference') },
  { keys: [keys.simulatorOnce], does: t('Let the simulator reply') },
  { keys: [keys.simulatorOn], does: t('Hand over to simulator') },
  { keys: [keys.takeSeat], does: t('Take over') },
  { keys: [keys.anotherSample], does: t('Regenerate') },
  { keys: [keys.goodMessage, keys.badMessage], does: t('Rate the last message good or bad') },
  { keys: [keys.endNow], does: t('End now') },
  { keys: [keys.skip], does: t('Skip') },
  { keys: ['ArrowUp', 'ArrowDown'], does: t('Earlier replies, in an empty composer') },
  {
    keys: [keys.chooseA, keys.chooseB, keys.equal, keys.neither],
    does: t('Candidates: A, B, equal, neither'),
  },
  { keys: ['1 … 5'], does: t('At the end: from one star to five') },
  { keys: [keys.pin], does: t('Pages: list the parts, to point at one') },
  { keys: [keys.compare], does: t('Compare with the reference') },
  { keys: [keys.playAgain], does: t('Play again') },
];

/** `in`: the phases in which a button offers the action. */
const letters: readonly { readonly key: string; readonly action: Action; readonly in: readonly Phase[] }[] = [
  { key: keys.suggest, action: 'suggest', in: ['developer'] },
  { key: keys.dontMind, action: 'dont-mind', in: ['developer'] },
  { key: keys.simulatorOnce, action: 'simulator-once', in: ['developer'] },
  { key: keys.simulatorOn, action: 'simulator-on', in: ['developer'] },
  { key: keys.anotherSample, action: 'another-sample', in: ['developer'] },
  { key: keys.takeSeat, action: 'take-seat', in: ['agent', 'candidates', 'simulator', 'stopped'] },
  {
    key: keys.endNow,
    action: 'end-now',
    in: ['agent', 'candidates', 'simulator', 'choosing', 'developer', 'stopped'],
  },
  { key: keys.skip, action: 'skip', in: ['choosing', 'developer', 'asking', 'stopped'] },
  { key: keys.compare, action: 'compare', in: ['over'] },
  { key: keys.playAgain, action: 'play-again', in: ['over'] },
];

const simulated: readonly (Action | undefined)[] = ['suggest', 'simulator-once', 'simulator-on'];

/** Keys of the number row or the keypad, as in other annotation tools. */
export const choices: Partial<Record<string, Picked>> = {
  [keys.chooseA]: 0,
  [keys.chooseB]: 1,
  [keys.neither]: 'neither',
  [keys.equal]: 'equal',
};

export interface KeyPress {
  readonly key: string;
  /** Place of the key on the keyboard, because ⌥A types an å on a Mac. */
  readonly code: string;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly repeat: boolean;
}

/**
 * `held`: the session uses the key but not its repetition, because a fast agent asks its next question while a key is
 * still down. @param isWriting the key goes into a text, in which a digit is no rating
 */
export function meaning(
  press: KeyPress,
  view: Pick<SessionView, 'state' | 'turns'>,
  isWriting: boolean,
): FromWebview | 'held' | undefined {
  const pressed = meaningOf(press, view, isWriting);
  return pressed !== undefined && press.repeat ? 'held' : pressed;
}

function meaningOf(
  press: KeyPress,
  view: Pick<SessionView, 'state' | 'turns'>,
  isWriting: boolean,
): FromWebview | undefined {
  const { phase, isSuggesting, rating, restriction, consent } = view.state;
  if (press.ctrlKey || press.metaKey) return undefined;
  const isRunning = ['agent', 'candidates', 'simulator', 'grading'].includes(phase) || isSuggesting === true;
  if (press.key === 'Escape' && isRunning) return { type: 'act', action: 'stop' };
  // After the dialogue the person writes a remark, into which ⌥C types a ç.
  if (isWriting && (phase === 'over' || !press.altKey)) return undefined;
  if (press.altKey) return rated(press, view) ?? acted(press, view);
  if (phase === 'choosing' && restriction === undefined && consent === undefined) {
    const picked = choices[press.key];
    return picked === undefined ? undefined : { type: 'choose', picked };
  }
  if (phase !== 'over' || rating === undefined || !/^[1-5]$/.test(press.key)) return undefined;
  return { type: 'rate', change: { stars: Number(press.key) } };
}

function acted(press: KeyPress, { state }: Pick<SessionView, 'state'>): FromWebview | undefined {
  const action = letters.find((one) => isLetter(press, one.key) && one.in.includes(state.phase))?.action;
  const isOffered =
    state.restriction === undefined &&
    state.consent === undefined &&
    (!(state.onlyDeveloperKnows === true || state.needsSimulator === true) || !simulated.includes(action)) &&
    (action !== 'take-seat' || state.seat === 'simulator') &&
    (action !== 'end-now' || state.canEnd === true || state.phase === 'choosing') &&
    (action !== 'play-again' || state.canReplay === true);
  return action !== undefined && isOffered ? { type: 'act', action } : undefined;
}

/** The same key once more takes the thumb back. */
function rated(
  press: KeyPress,
  { state, turns }: Pick<SessionView, 'state' | 'turns'>,
): FromWebview | undefined {
  const last = turns.at(-1);
  const thumb = isLetter(press, keys.goodMessage)
    ? 'up'
    : isLetter(press, keys.badMessage)
      ? 'down'
      : undefined;
  if (thumb === undefined || last === undefined || state.rating === undefined) return undefined;
  return {
    type: 'rate-turn',
    turn: last.turn,
    change: { thumb: last.rating?.thumb === thumb ? 'none' : thumb },
  };
}

/** @param key as in `aria-keyshortcuts` */
export const isLetter = ({ code, altKey, shiftKey, ctrlKey, metaKey }: KeyPress, key: string): boolean =>
  altKey && !ctrlKey && !metaKey && code === `Key${key.at(-1)!}` && shiftKey === key.includes('Shift+');

/**
 * As a shell does: up from an empty composer, and on from a recalled, unchanged reply.
 * @param replies oldest first
 * @returns undefined when the key is the composer's own
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
