import './theme.css';
import '../dialogue/dialogue.css';
import '../session/session.css';
import '../session/footer.css';
import '../dialogue/grade';
import '../session/consent';
import './seat.css';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { followPresses, PlainElement } from '../dialogue/element';
import { heldBack } from '../dialogue/leakWarning';
import { renderPython } from '../dialogue/markdown';
import { shortened, withVisibleControls } from '../dialogue/protocol';
import { agentMessage, leakMark, message, prose } from '../dialogue/turn';
import { t } from '../language';
import type { ConsentWords } from '../session/consent';
import { keys } from '../session/keys';
import { levelWords, type ConsentRequest, type LeakWarning, type ReplyView } from '../session/protocol';
import { gradeSaid, replyLength } from '../session/view';
import { button, icon, linkButton, progress, textArea } from '../ui';
import { Connection, RefusedError, takeToken } from './connection';
import { followTheme } from './theme';
import type { SeatAction, SeatTask, SeatView } from './protocol';

const PSEUDONYM = 'tandem.pseudonym';
const DRAFT = 'tandem.draft';
const RETRY_MS = 2000;

/** Wide enough for the reference beside the dialogue. */
const WIDE = '(min-width: 900px)';

@customElement('tandem-seat')
export class SeatElement extends PlainElement {
  @state() private view: SeatView | undefined;
  /** The server does not answer, or refuses. */
  @state() private trouble: string | undefined;
  @state() private draft = sessionStorage.getItem(DRAFT) ?? '';
  @state() private leak: LeakWarning | undefined;
  @state() private isSending = false;
  @state() private notice: string | undefined;
  private pseudonym = localStorage.getItem(PSEUDONYM) ?? undefined;
  private readonly connection = new Connection(takeToken());
  /** Number of the loop that asks for views: a later one ends those before. */
  private loop = 0;

  override connectedCallback(): void {
    super.connectedCallback();
    followTheme();
    matchMedia(WIDE).addEventListener('change', () => this.requestUpdate());
    followPresses(this, (pressed) => void this.follow(pressed));
    document.addEventListener('keydown', (event) => this.pressed(event));
    // The link was opened again in this tab, which only changes the fragment.
    window.addEventListener('hashchange', () => location.reload());
    void this.listen();
  }

  override render(): TemplateResult {
    const { view } = this;
    if (view === undefined) return this.opening();
    if (view.phase === 'consent') return this.consent(view);
    return html`${this.header(view)}
      <main tabindex="0" aria-label=${t('Dialogue')}>
        <div class="column">
          ${view.task === undefined ? this.nothingLeft(view) : this.dialogue(view, view.task)}
        </div>
      </main>
      <p class="unseen" role="status">${view.grade === undefined ? '' : gradeSaid(view.grade)}</p>
      <footer>
        <div class="column">${this.notices()} ${this.actions(view)}</div>
      </footer>
      ${view.task === undefined ? nothing : reference(view.task)}`;
  }

  private opening(): TemplateResult {
    return html`<main class="form" tabindex="0" aria-label=${t('Reply to an agent')}>
      <div class="column">
        <h1>${t('Reply to an agent')}</h1>
        ${this.trouble === undefined ? progress(t('Connecting')) : this.notices()}
      </div>
    </main>`;
  }

  private consent(view: SeatView): TemplateResult {
    return html`<main class="form" tabindex="0" aria-label=${t('Consent')}>
      <div class="column">
        <h1>${t('Reply to an agent')}</h1>
        <p>
          ${t(
            'You get a programming task with its solution. An agent sees only the request, and asks you. Answer in plain words, at most {0} characters each, without giving the code away. Its answer is graded at the end.',
            view.replyLimit,
          )}
        </p>
        ${
          view.isAssigned === true
            ? html`<p>
                ${icon('info')} ${t('The tasks are dealt out: enter the pseudonym that you were given.')}
              </p>`
            : nothing
        }
        ${this.notices()}
        <tandem-consent
          .job=${nothing}
          .suggestion=${view.consent}
          .agent=${view.agent}
          .explained=${explained}
          .agreed=${(consent: ConsentRequest) => void this.agree(consent)}
        ></tandem-consent>
      </div>
    </main>`;
  }

  private header(view: SeatView): TemplateResult {
    const { task, progress: tasks, own = '' } = view;
    return html`<header>
      <div class="line">
        <h1>${task === undefined ? t('Reply to an agent') : task.title}</h1>
        <ul class="facts">
          ${task === undefined ? nothing : html`<li>${t('turn {0} of {1}', view.turn, view.maxTurns)}</li>`}
          ${tasks === undefined ? nothing : html`<li>${t('{0} of {1} tasks done', tasks.done, tasks.of)}</li>`}
          <li>${icon('hubot')} <span class="cut">${shortened(view.agent)}</span></li>
          <li>
            ${icon('account')}
            <span class="cut">${withVisibleControls(own)}</span>
            ${linkButton(t('not you?'), () => this.leave(), t('Play under another pseudonym'))}
          </li>
        </ul>
      </div>
    </header>`;
  }

  private dialogue({ turns, phase, grade, own, agent }: SeatView, task: SeatTask): TemplateResult {
    return html`${message(t('request'), prose(task.description), 'developer')}
      <div role="log" aria-live="polite" aria-label=${t('Turns')}>
        ${repeat(
          turns,
          ({ turn }) => turn,
          (turn) =>
            html`${agentMessage(turn)}${turn.reply === undefined ? nothing : replied(turn.reply, own)}`,
        )}
        ${
          phase === 'agent'
            ? message(t('agent'), progress(t('{0} is writing', shortened(agent))), 'agent')
            : nothing
        }
      </div>
      ${grade === undefined ? nothing : html`<tandem-grade .grade=${grade}></tandem-grade>`}`;
  }

  private nothingLeft({ progress: tasks, own = '' }: SeatView): TemplateResult {
    const isNone = tasks?.of === 0;
    return html`<div class="nothing-left">
      ${icon(isNone ? 'inbox' : 'check-all')}
      <h2>${isNone ? t('There is no task for {0}', withVisibleControls(own)) : t('All tasks are done')}</h2>
      <p>
        ${
          isNone
            ? t('Check the pseudonym, or ask whoever gave you the link.')
            : t('Thank you! You can close this page.')
        }
      </p>
    </div>`;
  }

  private actions(view: SeatView): TemplateResult {
    switch (view.phase) {
      case 'developer':
        return this.composer(view);
      case 'agent':
        return html`<p class="quiet">${t('The agent is writing; you answer next.')}</p>`;
      case 'grading':
        return html`<div class="actions">${progress(t('Running the tests'))}</div>`;
      case 'ready':
        return html`<p class="quiet">
            ${t('The agent sees only the request. Read the reference, and start.')}
          </p>
          <div class="actions">${this.primary(t('Start'), 'start')}</div>`;
      case 'stopped':
        return html`<div class="actions">${this.primary(t('Try again'), 'again')}</div>`;
      case 'over':
        return html`<div class="actions">
          ${this.primary(t('Next task'), 'next')}
          ${
            view.grade === undefined
              ? button({ label: t('Grade the answer'), onPress: () => void this.act(this.request('again')) })
              : nothing
          }
        </div>`;
      case 'done':
        return html`<div class="actions">
          ${button({ id: 'primary', label: t('Look for new tasks'), onPress: () => void this.act(this.request('next')) })}
        </div>`;
      case 'consent':
        return html``;
    }
  }

  private primary(label: string, type: 'start' | 'again' | 'next'): TemplateResult {
    const onPress = (): void => void this.act(this.request(type));
    return button({ id: 'primary', label, kind: 'primary', key: keys.primary, onPress });
  }

  private composer({ replyLimit }: SeatView): TemplateResult {
    const length = replyLength(this.draft, replyLimit);
    return html`<div class="composer">
        ${textArea({
          id: 'reply',
          label: t('Your reply to the agent'),
          describedBy: 'reply-limit',
          invalid: length.over > 0,
          value: this.draft,
          disabled: this.isSending,
          onInput: (text) => this.write(text),
          onKey: (event) => this.keyed(event),
        })}
        <span class="counter ${length.over > 0 ? 'over' : ''}" aria-hidden="true">${length.words}</span>
        <span id="reply-limit" class="unseen"
          >${t('{0} of at most {1} characters', length.used, replyLimit)}</span
        >
        <span class="unseen" role="status">${length.warning}</span>
      </div>
      ${
        this.leak === undefined
          ? html`<div class="actions">
              ${button({
                id: 'send',
                label: t('Send'),
                kind: 'primary',
                key: keys.send,
                disabled: !this.isSendable,
                onPress: () => void this.send(false),
              })}
            </div>`
          : heldBack(
              this.leak,
              () => this.edit(),
              () => void this.send(true),
            )
      }`;
  }

  private notices(): TemplateResult {
    const notice = this.view?.notice ?? this.notice;
    return html`${this.trouble === undefined ? nothing : bar('error', this.trouble)}
    ${notice === undefined ? nothing : bar('warning', notice)}`;
  }

  private get isSendable(): boolean {
    const { draft, view, isSending, trouble } = this;
    const isFit = draft.trim() !== '' && replyLength(draft, view?.replyLimit ?? 0).over === 0;
    return isFit && !isSending && trouble === undefined;
  }

  /** Enter sends, as does Ctrl+Enter; Shift+Enter begins a line. */
  private keyed(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.isComposing || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.leak === undefined && this.isSendable) void this.send(false);
  }

  /** Elsewhere Enter is the primary button, where nothing else takes it. */
  private pressed(event: KeyboardEvent): void {
    const [target] = event.composedPath();
    const isTaken =
      target instanceof Element && target.closest('a, button, summary, input, textarea, vscode-button');
    if (event.key !== 'Enter' || event.isComposing || isTaken !== null) return;
    this.querySelector<HTMLElement>('#primary')?.click();
  }

  private write(text: string): void {
    this.draft = text;
    this.leak = undefined;
    this.notice = undefined;
    sessionStorage.setItem(DRAFT, text);
  }

  private edit(): void {
    this.leak = undefined;
    this.querySelector<HTMLElement>('#reply')?.focus();
  }

  private request(type: 'start' | 'again' | 'next'): SeatAction {
    return { type, pseudonym: this.pseudonym ?? '' };
  }

  private async agree(consent: ConsentRequest): Promise<void> {
    if (!(await this.act({ type: 'consent', consent }))) return;
    this.pseudonym = consent.pseudonym;
    localStorage.setItem(PSEUDONYM, consent.pseudonym);
    void this.listen();
    if (this.view?.phase === 'ready') await this.act(this.request('start'));
  }

  private leave(): void {
    localStorage.removeItem(PSEUDONYM);
    this.pseudonym = undefined;
    this.view = undefined;
    void this.listen();
  }

  private async send(anyway: boolean): Promise<void> {
    const { view, draft, pseudonym = '' } = this;
    if (view?.task === undefined) return;
    this.isSending = true;
    const { turn, task } = view;
    const isAnswered = await this.act({
      ...{ type: 'reply', pseudonym, task: task.id, turn, text: draft, anyway },
    });
    this.isSending = false;
    if (!isAnswered || this.leak !== undefined) return;
    const { task: now, turns = [] } = this.view ?? {};
    const isLogged = now?.id === task.id && turns[turn - 1]?.reply?.text === draft.trim();
    if (isLogged) this.write('');
    else if (this.view?.notice === undefined)
      this.notice = t('Not sent: this dialogue went on in another tab. Your text is kept.');
  }

  /** @returns false if the server did not do it, which a notice says */
  private async act(action: SeatAction): Promise<boolean> {
    try {
      const { view, leak } = await this.connection.act(action);
      this.trouble = undefined;
      this.leak = leak;
      this.show(view);
      return true;
    } catch (error) {
      this.trouble = troubleOf(error);
      return false;
    }
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

  private show(view: SeatView, isAnew = false): void {
    const before = this.view;
    if (before !== undefined && !isAnew && before.phase !== 'consent' && view.version < before.version)
      return;
    // Text that was written for another task.
    if (before?.task !== undefined && view.task?.id !== before.task.id) this.write('');
    this.view = view;
  }

  override updated(changed: PropertyValues): void {
    const before = changed.get('view') as SeatView | undefined;
    const { view } = this;
    if (!changed.has('view') || view === undefined) return;
    document.title = view.phase === 'developer' ? t('Your turn: Tandem') : t('Tandem: reply to an agent');
    if (before?.phase === view.phase && before.turns.length === view.turns.length) return;
    void this.present(view);
  }

  /** Brings the newest message or the grade into sight, and the focus to what is to be done. */
  private async present(view: SeatView): Promise<void> {
    await this.updateComplete;
    const main = this.querySelector('main');
    const grade = this.querySelector<PlainElement>('tandem-grade');
    await grade?.updateComplete;
    if (grade !== null) grade.scrollIntoView({ block: 'start' });
    else if (view.turns.length > 0) main?.scrollTo({ top: main.scrollHeight });
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

const explained: ConsentWords = {
  recorded: t('Recorded: your replies and their timing. The agent ({0}) gets the replies.'),
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

const replied = (reply: ReplyView, own: string | undefined): TemplateResult =>
  message(
    reply.by === own ? t('You') : withVisibleControls(reply.by),
    html`<p class="plain">${withVisibleControls(reply.text)}</p>
      ${leakMark(reply)}`,
    reply.seat,
  );

/** Open beside the dialogue, and folded above it where there is no room. */
const reference = ({ reference: code, tests }: SeatTask): TemplateResult =>
  html`<aside aria-label=${t('Reference')}>
    <details .open=${matchMedia(WIDE).matches}>
      <summary>${t('reference')}<span class="quiet"> ${t('only you see it')}</span></summary>
      <pre tabindex="0"><code>${unsafeHTML(renderPython(code))}</code></pre>
      <h2>${tests.length === 1 ? t('1 test') : t('{0} tests', tests.length)}</h2>
      <pre tabindex="0"><code>${unsafeHTML(renderPython(tests.join('\n')))}</code></pre>
    </details>
  </aside>`;
