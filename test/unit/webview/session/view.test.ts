import { describe, expect, it } from 'vitest';
import type { ToWebview, TurnView, SessionView } from '../../../../webview/session/protocol';
import { state, turn as first } from './shown';
import { choiceWords, modelLabel, playerLabel } from '../../../../webview/dialogue/names';
import { applied, replyLength } from '../../../../webview/session/view';

const called = { 'openai:gpt-4o@https://example.org/v1': 'Lab' };

const turn = (number: number): TurnView => ({ ...first, turn: number });

const snapshot: ToWebview = {
  type: 'snapshot',
  panel: { episode: 'a' },
  task: { title: 'T', description: 'D', pack: 'p.jsonl', tests: 10 },
  state,
  turns: [turn(1), turn(2)],
  draft: { text: '' },
};

const shown = (...messages: readonly ToWebview[]): SessionView | undefined =>
  messages.reduce<SessionView | undefined>(applied, undefined);

describe('what the view draws', () => {
  it('ends the drafting with the draft, so that Escape discards it from the moment it is shown', () => {
    const drafting = { ...state, phase: 'developer', isSuggesting: true } as const;
    const drafted = shown(
      { ...snapshot, state: drafting },
      { type: 'suggestion', suggestion: { text: '20.', by: 'rules' } },
    );
    expect(drafted?.state.isSuggesting).toBe(false);
  });

  it('changes only the turn that changed, so that no other is drawn again, and adds one that is new', () => {
    const before = shown(snapshot);
    const reply = { text: '20.', by: 'ada', seat: 'developer' } as const;
    const after = applied(before, { type: 'turn', turn: { ...turn(2), reply } });
    expect(after?.turns[0]).toBe(before?.turns[0]);
    expect(after?.turns[1]?.reply?.text).toBe('20.');
    expect(applied(after, { type: 'turn', turn: turn(3) })?.turns).toHaveLength(3);
  });

  it('keeps what models are called as long as it is the same, so that no turn is drawn again', () => {
    const before = shown(snapshot);
    const same = applied(before, { type: 'state', state: { ...state, called: {} } });
    expect(same?.state.called).toBe(before?.state.called);
    expect(applied(same, { type: 'state', state: { ...state, called } })?.state.called).toEqual(called);
  });

  it('shows a message while it is written, and no longer', () => {
    const stream = { by: 'agent', text: 'How', thinking: 3 } as const;
    expect(shown(snapshot, { type: 'stream', stream })?.stream).toEqual(stream);
    expect(shown(snapshot, { type: 'stream', stream }, { type: 'stream' })?.stream).toBeUndefined();
  });
});

describe('two candidates', () => {
  it('are shown until the host says that there is nothing to choose', () => {
    const candidates = [turn(1), turn(1)] as const;
    const before = shown(snapshot, { type: 'candidates', candidates });
    expect(before?.candidates).toEqual(candidates);
    expect(applied(before, { type: 'candidates' })?.candidates).toBeUndefined();
    expect(shown({ ...snapshot, candidates })?.candidates).toEqual(candidates);
  });
});

describe('the counter of a reply', () => {
  it('counts characters as people do, not code units', () => {
    expect(replyLength(' 👍👍 ', 400)).toMatchObject({ used: 2, over: 0, words: '2 / 400' });
  });

  it('is said aloud once when the limit is near, and once when it is passed', () => {
    const said = [0, 360, 361, 400, 401, 500].map((length) => replyLength('x'.repeat(length), 400).warning);
    expect([said[0], said[1]]).toEqual(['', '']);
    expect([said[2], said[4]]).toEqual([said[3], said[5]]);
    expect(new Set(said).size).toBe(3);
  });
});

it.each([
  ['openai:qwen/qwen3@HTTP://127.0.0.1:8000/v1', 'qwen/qwen3'],
  ['script:agents/asks-first.json', 'asks-first'],
  ['local:/models/qwen3-0.6b/', 'qwen3-0.6b'],
  ['local:tiny', 'tiny'],
  ['local:.tandem/loops/quick/model', 'quick/model'],
  ['rules', 'rules'],
])('names the model %s without its server or folder: %s', (spec, label) => {
  expect(modelLabel(spec, {})).toBe(label);
});

it('calls a model by the name of its connection or run, a person by the pseudonym, and only the own one *You*', () => {
  const gpt = 'openai:gpt-4o@https://example.org/v1';
  expect(modelLabel(gpt, called)).toBe('Lab');
  expect(modelLabel('constructor', called)).toBe('constructor');
  const names = { own: 'ada', called };
  const labels = (['simulator', 'developer'] as const).map((seat) => playerLabel(gpt, seat, names));
  expect(labels).toEqual(['Lab', gpt]);
  expect(playerLabel('rules', 'simulator', names)).toBe('Simulator (rules)');
  expect([names, { called }].map((of) => playerLabel('ada', 'developer', of))).toEqual(['You', 'ada']);
});

it('says what was chosen and by whom, and who wrote it once that may be told', () => {
  const told = { by: 'ada', candidates: [turn(1), turn(1)] } as const;
  const agents = ['starter', 'openai:gpt-4o@https://example.org/v1'] as const;
  expect(choiceWords({ ...told, picked: 1 }, 'ada', called)).toBe('You chose B over A.');
  expect(choiceWords({ ...told, picked: 0, agents }, 'bob', called)).toBe(
    'ada chose A (starter) over B (Lab).',
  );
});
