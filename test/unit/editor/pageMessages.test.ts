import { describe, expect, it, vi } from 'vitest';
import { readMessage, type PageMessages } from '../../../src/editor/pageMessages';
import { fromPages } from '../../fixtures/messages/from-pages';

vi.mock('vscode', () => import('./vscode'));
const { WebviewPanel } = await import('./vscode');
const { Panel } = await import('../../../src/editor/panel');

type PageName = keyof PageMessages;

describe('a message of a page', () => {
  it('is taken as it is when it is right', () => {
    for (const [page, kinds] of Object.entries(fromPages)) {
      for (const message of Object.values<unknown>(kinds))
        expect(readMessage(page as PageName, message)).toEqual({ message });
    }
  });

  it.each<[PageName, unknown]>([
    ['session', undefined],
    ['session', 'ready'],
    ['session', [{ type: 'ready' }]],
    ['session', { type: '__proto__' }],
    ['session', { type: 'judge', episode: 'e1', turn: 1, agrees: true }],
    ['session', { type: 'ready', more: 1 }],
    ['session', { type: 'rate', change: { stars: 9 } }],
    ['session', { type: 'rate', change: { stars: Number.NaN } }],
    ['session', { type: 'rate-turn', turn: 0.5, change: {} }],
    ['session', { type: 'start', consent: { pseudonym: ' ', purpose: 'a test', level: 'local' } }],
    ['session', { type: 'act', action: 'toString' }],
    ['session', { type: 'copy', text: 'x'.repeat(10_000_000) }],
    ['replay', { type: 'judge', episode: 'e1', turn: -1, agrees: true }],
    ['runs', { type: 'act', action: 'compare', ids: [null] }],
    ['newRun', { type: 'change', values: { base: 7 } }],
  ])('of %s is refused when it does not fit: %j', (page, message) => {
    expect(readMessage(page, message)).toHaveProperty('fault.code', 'editor/page-message');
  });

  it('brings no prototype with it', () => {
    const hostile = JSON.parse('{"type": "act", "action": "suggest", "__proto__": {"type": "x"}}') as unknown;
    expect(readMessage('session', hostile)).toStrictEqual({ message: { type: 'act', action: 'suggest' } });
  });
});

describe('a panel', () => {
  /** Makes a panel; the test acts as its page. */
  function panel(receive: (message: unknown) => unknown) {
    const made = new WebviewPanel();
    const errors = { show: vi.fn(), report: vi.fn<(error: unknown) => void>() };
    const onMalformed = vi.fn();
    class Shown extends Panel<'session', unknown> {
      override receive = receive;
      override onMalformed = onMalformed;
    }
    new Shown(made as never, { name: 'session', icon: 'beaker', extension: '/extension' as never, errors });
    return { ...errors, onMalformed, say: (said: unknown) => made.say(said) };
  }

  it('hears nothing of a message that is wrong, and notes its field once', async () => {
    const receive = vi.fn();
    const { say, show, report, onMalformed } = panel(receive);
    for (const stars of [9, -1]) await say({ type: 'rate', change: { stars } });
    expect([receive.mock.calls, show.mock.calls]).toEqual([[], []]);
    expect(onMalformed.mock.calls).toEqual([['rate'], ['rate']]);
    const message = expect.stringContaining('has a wrong “change”') as string;
    expect(report.mock.calls).toEqual([[expect.objectContaining({ code: 'editor/page-message', message })]]);
  });

  it('tells what fails with a right message, at once or later', async () => {
    const error = new Error('The disk is full.');
    const failing = [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ];
    for (const receive of failing) {
      const { say, show } = panel(receive);
      await say({ type: 'ready' });
      expect(show.mock.calls).toEqual([[error]]);
    }
  });
});
