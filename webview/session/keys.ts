import { host } from './host';
import type { Action, Picked, SessionState } from './protocol';

/** The keys of a session, as they are shown; `pressed` reads them. */
export const keys = {
  send: '⏎',
  primary: '⏎',
  stop: 'Esc',
  discard: 'Esc',
  suggest: 'Alt+S',
  dontMind: 'Alt+D',
  simulatorOnce: 'Alt+A',
  simulatorOn: 'Alt+Shift+A',
  anotherSample: 'Alt+R',
  chooseA: '1',
  chooseB: '2',
  neither: '0',
  equal: '=',
} as const;

/** Plain keys of the number row or the block of digits, as in other tools for judging. */
const choices: Partial<Record<string, Picked>> = {
  [keys.chooseA]: 0,
  [keys.chooseB]: 1,
  [keys.neither]: 'neither',
  [keys.equal]: 'equal',
};

/** Does what a key means in this state. Codes, not characters: ⌥A types an å on a Mac. */
export function pressed(event: KeyboardEvent, state: SessionState): boolean {
  const isRunning = ['agent', 'candidates', 'simulator'].includes(state.phase) || state.isSuggesting === true;
  if (event.ctrlKey || event.metaKey) return false;
  if (event.key === 'Escape' && isRunning) return act('stop');
  const action = state.phase === 'developer' && event.altKey ? replyAction(event) : undefined;
  if (action !== undefined) return act(action);
  if (state.phase === 'choosing' && !event.altKey && !event.repeat && !isWriting(event)) {
    return choose(event.key);
  }
  if (state.phase !== 'over' || state.rating === undefined || event.altKey || isWriting(event)) return false;
  if (!/^[1-5]$/.test(event.key)) return false;
  host.send({ type: 'rate', change: { stars: Number(event.key) } });
  return true;
}

function choose(key: string): boolean {
  const picked = choices[key];
  if (picked === undefined) return false;
  host.send({ type: 'choose', picked });
  return true;
}

function replyAction({ code, shiftKey }: KeyboardEvent): Action | undefined {
  if (code === 'KeyA') return shiftKey ? 'simulator-on' : 'simulator-once';
  if (shiftKey) return undefined;
  const actions: Partial<Record<string, Action>> = {
    KeyS: 'suggest',
    KeyD: 'dont-mind',
    KeyR: 'another-sample',
  };
  return actions[code];
}

function act(action: Action): true {
  host.act(action);
  return true;
}

/** Digits that are typed into a text are no stars. */
function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type === 'text')
  );
}
