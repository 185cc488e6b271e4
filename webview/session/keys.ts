import { host } from './host';
import type { SessionState } from './protocol';

/** The keys of a session, as they are shown; `pressed` reads them. */
export const keys = {
  send: '⏎',
  primary: '⏎',
  stop: 'Esc',
  simulatorOnce: 'Alt+A',
  simulatorOn: 'Alt+Shift+A',
} as const;

/** Does what a key means in this state. Codes, not characters: ⌥A types an å on a Mac. */
export function pressed(event: KeyboardEvent, { phase }: SessionState): boolean {
  if (event.key === 'Escape' && (phase === 'agent' || phase === 'simulator')) host.act('stop');
  else if (
    event.code === 'KeyA' &&
    event.altKey &&
    !event.ctrlKey &&
    !event.metaKey &&
    phase === 'developer'
  ) {
    host.act(event.shiftKey ? 'simulator-on' : 'simulator-once');
  } else return false;
  return true;
}
