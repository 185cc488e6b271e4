import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Answering, Composition } from '../../../../webview/session/host';
import type { TurnView, SessionView } from '../../../../webview/session/protocol';
import { state, turn } from './shown';

/** Messages that the page has posted. */
const sent = vi.hoisted(() => {
  const posted: unknown[] = [];
  vi.stubGlobal('acquireVsCodeApi', () => ({ postMessage: (message: unknown) => posted.push(message) }));
  return posted;
});

const replied: TurnView = { ...turn, reply: { text: 'So.', by: 'ada', seat: 'developer' } };
const view: SessionView = {
  panel: { episode: 'a' },
  task: { title: 'T', description: 'D', pack: 'p', tests: 1 },
  state,
  turns: [turn],
};
const suggestion = { text: 'Above 20.', by: 'rules' };

let composition: Composition;

beforeEach(() => {
  sent.length = 0;
  composition = new Composition(vi.fn());
});

describe('the reply that is being composed', () => {
  it('is gone once its turn is in the log, also from a page that came back while it was on its way', () => {
    composition.write('So.');
    composition.send();
    expect(sent).toContainEqual({ type: 'reply', draft: { text: 'So.' }, anyway: false });
    expect(composition.isSending).toBe(true);
    const back = new Composition(vi.fn());
    back.receive({ type: 'snapshot', ...view, draft: { text: ' So. ' } }, view);
    for (const page of [composition, back]) {
      page.receive({ type: 'turn', turn: replied }, { ...view, turns: [replied] });
      expect(page).toMatchObject({ isSending: false, draft: { text: '' } });
      expect(sent.at(-1)).toEqual({ type: 'draft', draft: { text: '' } });
    }
  });

  it('can be sent again when the host did not take it, or says why it was not logged', () => {
    const notice = { kind: 'error', message: 'The disk is full.', actions: [] } as const;
    const now = { ...state, notice };
    for (const message of [{ type: 'not-sent' }, { type: 'state', state: now }] as const) {
      composition.write('So.');
      composition.send();
      composition.receive(message, { ...view, state: now });
      expect(composition).toMatchObject({ isSending: false, draft: { text: 'So.' } });
    }
  });

  it('is what the host has kept after a reload', () => {
    const draft = { text: 'Above', suggestion: { ...suggestion, replaced: 'x' } };
    const warning = { percent: 50, passages: ['Above'] };
    composition.receive({ type: 'snapshot', ...view, draft, warning }, view);
    expect(composition).toMatchObject({ draft, warning });
  });

  it('stays when an earlier turn with the same reply is rated', () => {
    composition.write('So.');
    const turns = [replied, { ...turn, turn: 2 }];
    composition.receive({ type: 'turn', turn: replied }, { ...view, turns });
    expect(composition.draft).toEqual({ text: 'So.' });
  });

  it('tells the host every word at once, since a view that is hidden is gone', () => {
    composition.write('S');
    composition.write('So');
    expect(sent).toEqual(['S', 'So'].map((text) => ({ type: 'draft', draft: { text } })));
  });

  it('stays when somebody else has answered the turn', () => {
    composition.write('So.');
    composition.receive({ type: 'leak-warning', percent: 50, passages: [] }, view);
    const other: TurnView = { ...turn, reply: { text: 'No.', by: 'rules', seat: 'simulator' } };
    composition.receive({ type: 'turn', turn: other }, { ...view, turns: [other] });
    expect(composition.draft.text).toBe('So.');
    expect(composition.warning).toBeUndefined();
  });

  it('knows of a suggestion what it began as, however it is edited', () => {
    composition.receive({ type: 'suggestion', suggestion }, view);
    composition.write('Above 20 kg.');
    expect(composition.draft).toEqual({ text: 'Above 20 kg.', suggestion: { ...suggestion, replaced: '' } });
  });

  it('brings back what a suggestion took the place of when it is discarded', () => {
    composition.write('I think abo');
    composition.take(suggestion);
    composition.take({ ...suggestion, text: 'Over 20.' });
    composition.discardSuggestion();
    expect(composition.draft).toEqual({ text: 'I think abo' });
  });

  it('is held back with a warning until it is edited or sent anyway', () => {
    composition.write('return 1');
    composition.send();
    const warning = { percent: 50, passages: ['return 1'] };
    composition.receive({ type: 'leak-warning', ...warning }, view);
    expect(composition).toMatchObject({ isSending: false, warning, draft: { text: 'return 1' } });
    composition.write('it is one');
    expect(composition.warning).toBeUndefined();
    composition.receive({ type: 'leak-warning', ...warning }, view);
    composition.send(true);
    expect(sent.at(-1)).toEqual({ type: 'reply', draft: { text: 'it is one' }, anyway: true });
    expect(composition.warning).toBeUndefined();
  });
});

describe('the host', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('counts as gone when it answers nothing for ten seconds, until it is heard again', () => {
    const changed = vi.fn();
    const answering = new Answering(changed);
    answering.asked();
    vi.advanceTimersByTime(6_000);
    // A further request does not restart the wait.
    answering.asked();
    vi.advanceTimersByTime(3_000);
    expect(answering.isSilent).toBe(false);
    vi.advanceTimersByTime(2_000);
    expect(answering.isSilent).toBe(true);
    answering.heard();
    expect(answering.isSilent).toBe(false);
    expect(changed).toHaveBeenCalledTimes(2);
  });
});
