import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { state } from 'lit/decorators.js';
import { followPresses, PlainElement } from '../dialogue/element';
import { EndFollower } from '../dialogue/endFollower';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { levelWords, type ConsentRequest } from '../session/protocol';
import { icon, linkButton, progress } from '../ui';
import { Connection, RefusedError, storageKey, type ConsentAction, type SeatName } from './connection';
import { followTheme } from './theme';

const RETRY_MS = 2000;

interface AnyView {
  readonly version: number;
  readonly phase: string;
  readonly notice?: string;
}

/** What the page does with any view. */
export interface Seen {
  readonly turns: number;
  readonly isOwnTurn: boolean;
}

/** A seat in a browser: asks the server for views, and shows them. */
export abstract class SeatPageElement<
  View extends AnyView,
  Action,
  Answer extends { readonly view: View },
> extends PlainElement {
  @state() protected view: View | undefined;
  /** The server does not answer, or refuses. */
  @state() protected trouble: string | undefined;
  @state() protected isSending = false;
  @state() protected notice: string | undefined;
  protected pseudonym: string | undefined;
  private readonly connection: Connection<View, Action, Answer>;
  private readonly end = new EndFollower(
    this,
    () => this.view !== undefined && this.seen(this.view).turns > 0,
  );
  /** Number of the loop that asks for views: a later one ends those before. */
  private loop = 0;

  constructor(
    protected readonly seat: SeatName,
    private readonly heading: string,
  ) {
    super();
    this.connection = new Connection(seat);
    this.pseudonym = localStorage.getItem(storageKey(seat, 'pseudonym')) ?? undefined;
  }

  protected abstract seen(view: View): Seen;

  override connectedCallback(): void {
    super.connectedCallback();
    followTheme();
    followPresses(this, (pressed) => void this.follow(pressed));
    document.addEventListener('keydown', (event) => this.pressed(event));
    // The link was opened again in this tab, which only changes the fragment.
    window.addEventListener('hashchange', () => location.reload());
    void this.listen();
  }

  protected opening(): TemplateResult {
    return html`<main class="form" tabindex="0" aria-label=${this.heading}>
      <div class="column">
        <h1>${this.heading}</h1>
        ${this.trouble === undefined ? progress(t('Connecting')) : this.notices()}
      </div>
    </main>`;
  }

  protected person(own = ''): TemplateResult {
    return html`<li>
      ${icon('account')}
      <span class="cut">${withVisibleControls(own)}</span>
      ${linkButton(t('not you?'), () => this.leave(), t('Play under another pseudonym'))}
    </li>`;
  }

  protected notices(): TemplateResult {
    const notice = this.view?.notice ?? this.notice;
    return html`${this.trouble === undefined ? nothing : bar('error', this.trouble)}
    ${notice === undefined ? nothing : bar('warning', notice)}`;
  }

  protected async agree(consent: ConsentRequest): Promise<void> {
    if (!(await this.act({ type: 'consent', consent }))) return;
    this.pseudonym = consent.pseudonym;
    localStorage.setItem(storageKey(this.seat, 'pseudonym'), consent.pseudonym);
    void this.listen();
  }

  /** @returns false if the server did not do it, which a notice says */
  protected async act(action: Action | ConsentAction): Promise<boolean> {
    try {
      this.take(await this.connection.act(action));
      this.trouble = undefined;
      return true;
    } catch (error) {
      this.trouble = troubleOf(error);
      return false;
    }
  }

  protected take({ view }: Answer): void {
    this.show(view);
  }

  /** Elsewhere Enter is the primary button, where nothing else takes it. */
  private pressed(event: KeyboardEvent): void {
    const [target] = event.composedPath();
    const isTaken =
      target instanceof Element && target.closest('a, button, summary, input, textarea, vscode-button');
    if (event.key !== 'Enter' || event.isComposing || isTaken !== null) return;
    this.querySelector<HTMLElement>('#primary')?.click();
  }

  private leave(): void {
    localStorage.removeItem(storageKey(this.seat, 'pseudonym'));
    this.pseudonym = undefined;
    this.view = undefined;
    void this.listen();
  }

  /** Shows each change, until the person has to agree first, or the server refuses. */
  private async listen(): Promise<void> {
    const loop = ++this.loop;
    let after: number | undefined;
    while (loop === this.loop) {
      try {
        const { pseudonym } = this;
        const view = await this.connection.view({
          ...(pseudonym !== undefined && { pseudonym }),
          ...(after !== undefined && { after }),
        });
        if (loop !== this.loop) return;
        this.trouble = undefined;
        // A server that was started again counts from the beginning.
        this.show(view, after === undefined);
        if (view.phase === 'consent') return;
        after = view.version;
      } catch (error) {
        if (loop !== this.loop) return;
        this.trouble = troubleOf(error);
        if (error instanceof RefusedError) return;
        after = undefined;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  protected show(view: View, isAnew = false): void {
    const before = this.view;
    if (before !== undefined && !isAnew && before.phase !== 'consent' && view.version < before.version)
      return;
    this.view = view;
  }

  override updated(changed: PropertyValues): void {
    this.end.observe();
    const before = changed.get('view') as View | undefined;
    const { view } = this;
    if (!changed.has('view') || view === undefined) return;
    const { isOwnTurn, turns } = this.seen(view);
    document.title = isOwnTurn ? t('Your turn: Tandem') : `${this.heading}: Tandem`;
    if (before?.phase === view.phase && this.seen(before).turns === turns) return;
    void this.present();
  }

  /** Brings the newest message or the grade into sight, and the focus to what is to be done. */
  private async present(): Promise<void> {
    await this.updateComplete;
    await this.querySelector<PlainElement>('tandem-grade')?.updateComplete;
    this.end.isFollowing = true;
    this.end.follow();
    const busy = document.activeElement;
    if (busy === null || busy === document.body || busy.closest('footer') !== null || !busy.isConnected)
      this.querySelector<HTMLElement>('#reply, #primary')?.focus({ preventScroll: true });
  }

  private async follow(pressed: Parameters<Parameters<typeof followPresses>[1]>[0]): Promise<void> {
    if (pressed.type === 'open-link') {
      const question = t('Open this address of the agent in a new tab?');
      if (confirm(`${question}\n\n${withVisibleControls(pressed.address)}`))
        open(pressed.address, '_blank', 'noopener,noreferrer');
      return;
    }
    try {
      await navigator.clipboard.writeText(pressed.text);
    } catch {
      // Without an encrypted connection a browser lets no page write to the clipboard.
      this.notice = t('This browser does not let the page copy. Select the code, and copy it.');
    }
  }
}

/** What a consent form promises whose data folder is on another machine. */
export const storedAtServer = {
  stored: t('In {0} on the machine that serves this page. Tandem sends it nowhere else.'),
  later: t('Ask whoever gave you the link, and name your pseudonym.'),
  levels: {
    ...levelWords(t),
    local: {
      label: t('Keep on the machine that serves this page'),
      detail: t('Never exported. Training on that machine may use it.'),
    },
  },
};

function troubleOf(error: unknown): string {
  if (error instanceof RefusedError) return error.message;
  return t(
    'The server does not answer. What you have sent is in its log, and your text here is kept. This page tries again by itself; if it takes long, ask whoever gave you the link to start the server again.',
  );
}

const bar = (kind: 'error' | 'warning', sentence: string): TemplateResult =>
  html`<div class="notice ${kind}" role=${kind === 'error' ? 'alert' : 'status'}>
    ${icon(kind)}
    <p>${withVisibleControls(sentence)}</p>
  </div>`;
