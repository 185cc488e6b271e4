import '../dialogue/dialogue.css';
import './consent';
import '../dialogue/grade';
import './agentComposer';
import './composer';
import './turn';
import './session.css';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { PageElement, followPresses, type PlainElement } from '../dialogue/element';
import { EndFollower } from '../dialogue/endFollower';
import { playerLabel } from '../dialogue/names';
import { prose, message } from '../dialogue/turn';
import { t } from '../language';
import { footer, job, leaving, noticeBar, rest, restricted } from './footer';
import { header, pagesArea } from './header';
import { Composition, host } from './host';
import { isLetter, keys, meaning } from './keys';
import { browserOf, layOut } from './layOut';
import type { Pin } from '../pages/protocol';
import type {
  ConsentRequest,
  Notice,
  Picked,
  SessionState,
  ToWebview,
  TurnView,
  SessionView,
} from './protocol';
import { applied, gradeSaid, kindOf } from './view';

@customElement('tandem-session')
export class SessionElement extends PageElement<ToWebview> {
  @state() private view: SessionView | undefined;
  private readonly composition = new Composition(() => this.requestUpdate());
  private earlier: readonly string[] = [];
  private readonly end = new EndFollower(this, () => this.view?.panel.episode !== undefined);
  private left: Element | null = null;

  override connectedCallback(): void {
    host.onSilence = () => this.composition.free();
    super.connectedCallback();
    // Listen on the document, because on the window the editor takes every key: Alt+S would open a menu as well.
    document.addEventListener('keydown', (event) => {
      if (!this.pressed(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    followPresses(this, (message) => host.send(message));
    window.addEventListener('blur', () => (this.left = document.activeElement));
    // By the next task a press has focused what the person pressed.
    window.addEventListener('focus', () => setTimeout(() => this.cameBack()));
  }

  protected override ask(): void {
    host.send({ type: 'ready' });
  }

  override render(): TemplateResult {
    const { view } = this;
    if (view === undefined) return html``;
    const { state: now, task, turns, stream, candidates } = view;
    return html`${header(view)} ${pagesArea(view, this.composition.draft.pins ?? [], this.pinning(view))}
      <main tabindex="0" aria-label=${t('Dialogue')}>
        <div class="column">
          ${message(t('request'), prose(task.description), 'developer')}
          <div role="log" aria-live="polite" aria-label=${t('Turns')}>
            ${repeat(
              turns,
              (turn) => turn.turn,
              (turn) =>
                html`<tandem-turn
                  .turn=${turn}
                  .own=${now.own}
                  .called=${now.called}
                  .isLast=${turn === turns.at(-1)}
                  .canFork=${kindOf(task) !== 'own'}
                  .canRate=${now.rating !== undefined}
                ></tandem-turn>`,
            )}
          </div>
          ${
            stream === undefined
              ? nothing
              : html`<tandem-stream
                  .stream=${stream}
                  .simulator=${playerLabel(now.simulator, 'simulator', now)}
                ></tandem-stream>`
          }
          ${
            candidates === undefined
              ? nothing
              : html`<tandem-candidates
                  .view=${candidates}
                  .choose=${(picked: Picked) => host.send({ type: 'choose', picked })}
                  .titled=${(letter: string) => t('Continues with {0}', letter)}
                  .onRead=${() => host.act('open-transcript')}
                ></tandem-candidates>`
          }
          ${now.grade === undefined ? nothing : html`<tandem-grade .grade=${now.grade}></tandem-grade>`}
        </div>
      </main>
      <p class="unseen" role="status">${now.grade === undefined ? '' : gradeSaid(now.grade)}</p>
      <footer>
        <div class="column">
          ${host.answering.isSilent ? noticeBar(gone()) : nothing}
          ${now.notice === undefined ? nothing : noticeBar(now.notice)}${this.actions(view)}
        </div>
      </footer>`;
  }

  /** Pins belong to a reply that is being written. */
  private pinning({ state: now }: SessionView): ((pins: readonly Pin[]) => void) | undefined {
    const { composition } = this;
    const isWriting =
      now.phase === 'developer' &&
      now.restriction === undefined &&
      now.consent === undefined &&
      now.isSuggesting !== true &&
      !composition.isSending;
    return isWriting ? this.pin : undefined;
  }

  /** The new pin's words are in the text, and the person goes on writing behind them. */
  private readonly pin = (pins: readonly Pin[]): void => {
    const area = this.querySelector<HTMLTextAreaElement>('#reply');
    const caret = this.composition.pin(pins, area?.selectionStart ?? this.composition.draft.text.length);
    void this.closeParts().then(() =>
      this.querySelector<HTMLTextAreaElement>('#reply')?.setSelectionRange(caret, caret),
    );
  };

  /** Opens the list of the page's parts, from which a keyboard pins one. */
  private async openParts(): Promise<void> {
    const list = this.querySelector<HTMLDetailsElement>('.part-list');
    if (list === null) return;
    list.open = true;
    // It lists the parts when the event of its opening arrives.
    await new Promise((resolve) => setTimeout(resolve));
    this.querySelector<HTMLElement>('.part-list [role="listbox"]')?.focus();
  }

  /** Lays a page out for the host, where the machine has no browser. */
  private async layOut(id: number, cleaned: string): Promise<void> {
    const nodes = await layOut(cleaned);
    host.send({ type: 'laid-out', id, browser: browserOf(navigator), nodes });
  }

  private closeParts(): Promise<void> {
    const list = this.querySelector<HTMLDetailsElement>('.part-list');
    if (list !== null) list.open = false;
    return this.focusOn('#reply');
  }

  /** @returns true when the session used the key; it uses none while a reply is on its way to the log */
  private pressed(event: KeyboardEvent): boolean {
    if (this.view === undefined || this.composition.isSending) return false;
    const isText = isWriting(event);
    if (event.key === keys.listKeys && !isText) {
      this.querySelector<HTMLElement>('.shortcuts summary')?.click();
      return true;
    }
    if (isLetter(event, keys.pin) && this.pinning(this.view) !== undefined) {
      if (!event.repeat) void this.openParts();
      return this.view.task.isPage === true;
    }
    const [target] = event.composedPath();
    if (event.key === 'Escape' && target instanceof Element && target.closest('.part-list[open]') !== null) {
      void this.closeParts();
      return true;
    }
    const message = meaning(event, this.view, isText);
    if (message !== undefined && message !== 'held') host.send(message);
    return message !== undefined;
  }

  private actions({ state: now, turns, task }: SessionView): TemplateResult {
    if (now.restriction !== undefined) return restricted(now.restriction);
    if (now.consent !== undefined && now.phase !== 'no-agent') {
      return html`<tandem-consent
        .job=${now.phase === 'ready' ? job(now, kindOf(task)) : nothing}
        .suggestion=${now.consent}
        .agent=${now.agent}
        .simulator=${now.seat === 'agent' ? playerLabel(now.simulator, 'simulator', now) : undefined}
        .called=${now.called}
        .agreed=${(consent: ConsentRequest) => host.send({ type: 'start', consent })}
      ></tandem-consent>`;
    }
    const { draft, isSending, warning } = this.composition;
    if (now.phase === 'asking') {
      return html`<tandem-agent-composer
        .state=${now}
        .request=${task.description}
        .composition=${this.composition}
        .draft=${draft}
        .isSending=${isSending}
        .rest=${rest(leaving(now))}
      ></tandem-agent-composer>`;
    }
    if (now.phase !== 'developer') return footer(now, kindOf(task));
    return html`<tandem-composer
      .state=${now}
      .composition=${this.composition}
      .draft=${draft}
      .isSending=${isSending}
      .warning=${warning}
      .earlier=${[...this.earlier, ...ownReplies(turns)]}
    ></tandem-composer>`;
  }

  override updated(changed: PropertyValues): void {
    this.end.observe();
    if (!changed.has('view')) return;
    const before = changed.get('view') as SessionView | undefined;
    const { view } = this;
    if (before !== undefined && bringsNews(before.state, view?.state)) this.end.isFollowing = true;
    if (view === undefined || (before?.state.phase === view.state.phase && before.panel === view.panel))
      return;
    void this.focusNext(view);
  }

  /** A person who returns wants to continue, unless they clicked a part of the page. */
  private cameBack(): void {
    const { activeElement } = document;
    const isChosen = activeElement !== this.left && activeElement !== document.body;
    if (!isChosen && this.view !== undefined) void this.focusNext(this.view);
  }

  /** Leaves the focus where it is while the person is busy elsewhere in the page or the editor. */
  private async focusNext(view: SessionView): Promise<void> {
    if (isBusy()) return;
    await this.focusOn('#reply, #primary, #candidates', () => view === this.view && !isBusy());
  }

  /** @param still asked after everything is drawn; false leaves the focus where it is */
  private async focusOn(selector: string, still: () => boolean = () => true): Promise<void> {
    await this.updateComplete;
    const parts = this.querySelectorAll<PlainElement>(
      'tandem-composer, tandem-agent-composer, tandem-consent, tandem-candidates',
    );
    await Promise.all(Array.from(parts, (part) => part.updateComplete));
    // Focusing a part of a page would take the focus away from another part of the editor.
    if (document.hasFocus() && still())
      this.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
  }

  protected override receive(received: ToWebview): void {
    host.answering.heard();
    if (received.type === 'heard') return;
    if (received.type === 'lay-out') {
      void this.layOut(received.id, received.html);
      return;
    }
    this.view = applied(this.view, received);
    if (received.type === 'snapshot' || received.type === 'panel') host.keep(received.panel);
    this.composition.receive(received, this.view);
    if (this.composition.isSending) this.end.isFollowing = true;
    if (received.type === 'earlier') this.earlier = received.replies;
    if (received.type === 'suggestion' || received.type === 'not-sent') void this.focusOn('#reply');
    if (received.type === 'leak-warning') void this.focusOn('#edit');
  }
}

const gone = (): Notice => ({
  kind: 'error',
  message: t(
    'The extension host does not respond: the connection is lost, or it has stopped. If this persists, copy what you have not sent and run "Developer: Reload Window". Everything said before is in the log.',
  ),
  actions: [],
});

function isBusy(): boolean {
  const busy = document.activeElement;
  return busy !== null && busy !== document.body && busy.closest('footer') === null;
}

function isWriting(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type === 'text')
  );
}

/** A dialogue that continues after a stop, or a grade, is shown even to a person who has scrolled up. */
function bringsNews(before: SessionState, now: SessionState | undefined): boolean {
  const goesOn = before.phase === 'stopped' && now?.phase !== 'stopped';
  return goesOn || (before.grade === undefined && now?.grade !== undefined);
}

function ownReplies(turns: readonly TurnView[]): string[] {
  return turns.flatMap(({ reply }) => (reply?.seat === 'developer' ? [reply.text] : []));
}
