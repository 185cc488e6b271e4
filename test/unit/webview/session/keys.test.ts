import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { keys, listed, meaning, recalled, type KeyPress } from '../../../../webview/session/keys';
import type { SessionState } from '../../../../webview/session/protocol';
import { state, turn } from './shown';

const press = (code: string, more: Partial<KeyPress> = {}): KeyPress => ({
  ...{ key: code.replace('Key', ''), code, altKey: code.startsWith('Key'), shiftKey: false },
  ...{ ctrlKey: false, metaKey: false, repeat: false },
  ...more,
});

/** Returns the action of a key, or its other meaning. */
function action(pressed: KeyPress, now: Partial<SessionState>, isWriting = false): unknown {
  const message = meaning(pressed, { state: { ...state, ...now }, turns: [turn] }, isWriting);
  return typeof message === 'object' && message.type === 'act' ? message.action : message;
}

describe('a key of the session', () => {
  it.each<[string, Partial<SessionState>, unknown]>([
    ['S', {}, 'suggest'],
    ['S', { phase: 'over' }, undefined],
    ['S', { needsSimulator: true }, undefined],
    ['S', { onlyDeveloperKnows: true }, undefined],
    ['D', { onlyDeveloperKnows: true }, 'dont-mind'],
    ['D', { restriction: 'Nothing is played here.' }, undefined],
    ['K', { phase: 'stopped' }, 'skip'],
    ['N', { phase: 'stopped', canEnd: true }, 'end-now'],
    ['N', { phase: 'agent' }, undefined],
    ['I', { phase: 'agent', seat: 'simulator' }, 'take-seat'],
    ['I', { phase: 'agent' }, undefined],
    ['C', { phase: 'over' }, 'compare'],
    ['P', { phase: 'over', canReplay: true }, 'play-again'],
    ['P', { phase: 'over' }, undefined],
  ])('does what a button of that state does: Alt+%s where %j', (letter, now, does) => {
    // A key is read by its place, whatever it types.
    expect(action(press(`Key${letter}`, { key: 'ß' }), now)).toBe(does);
    expect(action(press(`Key${letter}`, { ctrlKey: true }), now)).toBeUndefined();
  });

  it('is told apart from the same key with Shift, and stops only what is under way', () => {
    expect(action(press('KeyA', { shiftKey: true }), {})).toBe('simulator-on');
    expect(action(press('Escape'), { phase: 'grading' })).toBe('stop');
    expect(action(press('Escape'), { phase: 'over' })).toBeUndefined();
  });

  it('means nothing while the form of the consent is there', () => {
    const consent = { pseudonym: 'ada', purpose: 'a test', level: 'local', folder: '/log' } as const;
    for (const letter of 'SDARNK') {
      const key = press(`Key${letter}`);
      expect(action(key, { canEnd: true })).toBeDefined();
      expect(action(key, { canEnd: true, consent })).toBeUndefined();
    }
    expect(action(press('Digit1', { key: '1' }), { phase: 'choosing', consent })).toBeUndefined();
  });

  it('gives the last message a thumb, and takes it back', () => {
    const up = { type: 'rate-turn', turn: 1, change: { thumb: 'up' } };
    expect(action(press('KeyG'), {}, true)).toEqual(up);
    const rated = { ...turn, rating: { thumb: 'down' } } as const;
    expect(meaning(press('KeyB'), { state, turns: [rated] }, true)).toMatchObject({
      change: { thumb: 'none' },
    });
  });

  it('types a digit into a text, and gives stars elsewhere', () => {
    const four = press('Digit4', { key: '4' });
    expect(action(four, { phase: 'over' })).toEqual({ type: 'rate', change: { stars: 4 } });
    expect(action(four, { phase: 'over' }, true)).toBeUndefined();
  });

  it('means something once while it is held, also when it types nothing more', () => {
    expect(action(press('KeyD', { repeat: true }), {}, true)).toBe('held');
    expect(action(press('KeyG', { repeat: true }), {})).toBe('held');
    expect(action(press('KeyD', { repeat: true }), { phase: 'agent' })).toBeUndefined();
  });

  it('chooses between two candidates, once for a key that is held', () => {
    const one = press('Digit1', { key: '1' });
    expect(action(one, { phase: 'choosing' })).toEqual({ type: 'choose', picked: 0 });
    expect(action({ ...one, repeat: true }, { phase: 'choosing' })).toBe('held');
  });
});

it('lists every key, in the session and in its page', async () => {
  const all = listed.flatMap((one) => one.keys);
  const page = await readFile('docs/session.md', 'utf8');
  for (const key of Object.values(keys)) {
    if (key !== keys.listKeys) expect(all).toContain(key);
    expect(page).toContain(`\`${key === 'Escape' ? 'Esc' : key}\``);
  }
});

describe('the history of the composer', () => {
  const replies = ['Above 20.', 'Three zones.', 'Above 20.', 'Minus one.'];

  it('walks up from an empty composer, each reply once, and stops at the oldest', () => {
    expect(recalled(replies, '', 'ArrowUp')).toBe('Minus one.');
    expect(recalled(replies, 'Minus one.', 'ArrowUp')).toBe('Above 20.');
    expect(recalled(replies, 'Three zones.', 'ArrowUp')).toBeUndefined();
  });

  it('walks down again to the empty composer', () => {
    expect(recalled(replies, 'Above 20.', 'ArrowDown')).toBe('Minus one.');
    expect(recalled(replies, 'Minus one.', 'ArrowDown')).toBe('');
    expect(recalled(replies, '', 'ArrowDown')).toBeUndefined();
  });

  it('leaves the arrows to a text that was changed or is new', () => {
    expect(recalled(replies, 'Minus one, I think.', 'ArrowUp')).toBeUndefined();
    expect(recalled(replies, 'Minus one.', 'ArrowLeft')).toBeUndefined();
    expect(recalled([], '', 'ArrowUp')).toBeUndefined();
  });
});
