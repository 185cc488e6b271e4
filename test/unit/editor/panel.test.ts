import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

vi.mock('vscode', () => import('./vscode'));
const { WebviewPanel, window } = await import('./vscode');
const { Panel } = await import('../../../src/editor/panel');
const { Panels } = await import('../../../src/editor/panel');
const { Opening } = await import('../../../src/editor/session/sessions');

const errors = { show: vi.fn(), report: vi.fn() };
const ended = vi.fn();

type Said = { readonly type: 'ready' | 'fail' } | { readonly type: 'act'; readonly action: string };

/** A panel that posts its content. */
class Shown extends Panel<Said, string> {
  readonly acted: string[] = [];
  seen = 0;
  fail: () => unknown = () => undefined;

  constructor(
    panel: unknown,
    readonly thing: string,
  ) {
    super(panel as never, {
      ...{ name: 'statistics', icon: 'graph', extension: '/e' as never, errors, actions: ['play'] },
    });
    this.owns({ dispose: ended });
  }

  override readonly asks = {
    ready: () => this.post(this.thing),
    fail: () => this.fail(),
    act: ({ action }: { readonly action: string }) => this.acted.push(action),
  };

  protected override onShown(): void {
    this.seen += 1;
  }
}

/** Makes a kind of panel that shows a word; words that start with `x` have no content. */
function words() {
  const loaded = Promise.withResolvers<undefined>();
  const panels = new Panels<string, Shown>({
    name: 'statistics',
    errors,
    shows: ({ thing }, other) => thing === other,
    restore: (kept) => {
      if (typeof kept !== 'string') throw new Error('The log is gone.');
      return kept.startsWith('x') ? undefined : kept;
    },
    load: async () => {
      await loaded.promise;
      return (panel, thing) => new Shown(panel, thing);
    },
  });
  return { panels, loaded };
}

beforeEach(() => {
  vi.clearAllMocks();
});

describe('the panels of a kind', () => {
  it('show a thing once, however often it is asked for meanwhile, and reveal it from then on', async () => {
    const { panels, loaded } = words();
    const both = [panels.open('one'), panels.open('one')];
    loaded.resolve(undefined);
    const [first, second] = await Promise.all(both);
    expect(second).toBe(first);
    expect(await panels.open('two')).not.toBe(first);
    expect(panels.all.map(({ thing }) => thing)).toEqual(['one', 'two']);
    expect(window.createWebviewPanel).toHaveBeenCalledTimes(2);
    expect(panels.find('one')).toBe(first);
  });

  it('forget a panel that is closed, and end what it owns', async () => {
    const { panels, loaded } = words();
    loaded.resolve(undefined);
    const first = await panels.open('one');
    first.dispose();
    expect(panels.all).toEqual([]);
    expect(first.wasClosed).toBe(true);
    expect(ended).toHaveBeenCalledOnce();
    expect(await panels.open('one')).not.toBe(first);
  });

  it('come back after a reload, where the thing is still there', async () => {
    const { panels, loaded } = words();
    loaded.resolve(undefined);
    const [back, gone, broken] = [new WebviewPanel(), new WebviewPanel(), new WebviewPanel()];
    await panels.deserializeWebviewPanel(back as never, 'one');
    await panels.deserializeWebviewPanel(gone as never, 'x');
    expect(errors.show).not.toHaveBeenCalled();
    await panels.deserializeWebviewPanel(broken as never, 3);
    expect([back, gone, broken].map(({ isClosed }) => isClosed)).toEqual([false, true, true]);
    expect(panels.all.map(({ thing }) => thing)).toEqual(['one']);
    expect(errors.show.mock.calls.map(String)).toEqual(['Error: The log is gone.']);
  });
});

describe('a panel', () => {
  it('listens from when its page says that it is there until it is hidden', async () => {
    const page = new WebviewPanel();
    const panel = new Shown(page, 'one');
    expect(panel.isListening).toBe(false);
    await page.say({ type: 'ready' });
    expect(panel.isListening).toBe(true);
    expect(page.posted).toEqual(['one']);
    page.show(false);
    expect(panel.isListening).toBe(false);
    page.show(true);
    expect(panel).toMatchObject({ seen: 1, isListening: false, isInSight: true });
  });
});

describe('what a page asks', () => {
  it.each([
    ['a kind that the panel does not answer', { type: 'toString' }],
    ['a prototype', { type: '__proto__' }],
    ['an action that is not the page’s', { type: 'act', action: 'skip' }],
    ['no message', 'ready'],
  ])('is nothing where it is %s', async (_, said) => {
    const page = new WebviewPanel();
    const panel = new Shown(page, 'one');
    await page.say(said);
    expect([panel.acted, page.posted, errors.show.mock.calls]).toEqual([[], [], []]);
    expect(errors.report.mock.calls).toEqual([[expect.objectContaining({ code: 'editor/page-message' })]]);
    await page.say({ type: 'act', action: 'play' });
    expect(panel.acted).toEqual(['play']);
  });

  it('is told where it fails, at once or later', async () => {
    const error = new Error('The disk is full.');
    const page = new WebviewPanel();
    const panel = new Shown(page, 'one');
    panel.fail = () => Promise.reject(error);
    await page.say({ type: 'fail' });
    panel.fail = () => {
      throw error;
    };
    await page.say({ type: 'fail' });
    expect(errors.show.mock.calls).toEqual([[error], [error]]);
  });
});

describe('a page that does not load', () => {
  const minutes = (count: number): unknown => vi.advanceTimersByTime(count * 60_000);

  beforeEach(() => void vi.useFakeTimers());

  afterEach(() => void vi.useRealTimers());

  it('is loaded again, with doubled patience, until it says that it is there', async () => {
    const page = new WebviewPanel();
    new Shown(page, 'one');
    const loaded = [page.webview.html];
    for (const count of [1, 2]) {
      minutes(count * 0.99);
      expect(page.webview.html).toBe(loaded.at(-1));
      minutes(count * 0.01);
      expect(loaded).not.toContain(page.webview.html);
      loaded.push(page.webview.html);
    }
    expect(errors.report.mock.calls.map(([fault]) => (fault as Error).message)).toEqual([
      expect.stringMatching(/^The page “statistics” has not loaded within 60 seconds\./),
      expect.stringMatching(/within 120 seconds/),
    ]);
    await page.say({ type: 'ready' });
    minutes(60);
    expect(page.webview.html).toBe(loaded.at(-1));
  });

  it('is left alone while it is out of sight, and when it is closed', () => {
    const [hidden, closed] = [new WebviewPanel(), new WebviewPanel()];
    for (const page of [hidden, closed]) new Shown(page, 'one');
    const { html } = hidden.webview;
    hidden.show(false);
    closed.dispose();
    minutes(60);
    expect([hidden.webview.html, errors.report.mock.calls]).toEqual([html, []]);
    hidden.show(true);
    minutes(1);
    expect(hidden.webview.html).not.toBe(html);
  });
});

it('a thing that could not be opened can be opened again', async () => {
  const opening = new Opening<string>();
  const fail = (): Promise<string> => Promise.reject(new Error('No pack has the task.'));
  await expect(opening.once('a', fail)).rejects.toThrow('No pack');
  expect(await opening.once('a', () => Promise.resolve('panel'))).toBe('panel');
});
