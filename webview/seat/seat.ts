import './theme.css';
import '../dialogue/dialogue.css';
import '../session/session.css';
import '../session/footer.css';
import '../dialogue/grade';
import '../session/consent';
import './seat.css';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { heldBack } from '../dialogue/leakWarning';
import { renderPython } from '../dialogue/markdown';
import { shortened, withVisibleControls } from '../dialogue/protocol';
import { agentMessage, leakMark, message, prose } from '../dialogue/turn';
import { t } from '../language';
import type { ConsentWords } from '../session/consent';
import { keys } from '../session/keys';
import type { ConsentRequest, LeakWarning, ReplyView } from '../session/protocol';
import { gradeSaid, replyLength } from '../session/view';
import { button, icon, progress, textArea } from '../ui';
import './agentSeat';
import { storageKey } from './connection';
import { SeatPageElement, storedAtServer, type Seen } from './page';
import type { SeatAction, SeatAnswer, SeatTask, SeatView } from './protocol';

const DRAFT = storageKey('seat', 'draft');

/** Wide enough for the reference beside the dialogue. */
const WIDE = '(min-width: 900px)';

@customElement('tandem-seat')
export class SeatElement extends SeatPageElement<SeatView, SeatAction, SeatAnswer> {
  @state() private draft = sessionStorage.getItem(DRAFT) ?? '';
  @state() private leak: LeakWarning | undefined;

  constructor() {
    super('seat', t('Reply to an agent'));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    matchMedia(WIDE).addEventListener('change', () => this.requestUpdate());
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
    const { task, progress: tasks, own } = view;
    return html`<header>
      <div class="line">
        <h1>${task === undefined ? t('Reply to an agent') : task.title}</h1>
        <ul class="facts">
          ${task === undefined ? nothing : html`<li>${t('turn {0} of {1}', view.turn, view.maxTurns)}</li>`}
          ${tasks === undefined ? nothing : html`<li>${t('{0} of {1} tasks done', tasks.done, tasks.of)}</li>`}
          <li>${icon('hubot')} <span class="cut">${shortened(view.agent)}</span></li>
          ${this.person(own)}
        </ul>
      </div>
    </header>`;
  }

  private dialogue(
    { turns, phase, grade, own, agent, isAgentAway }: SeatView,
    task: SeatTask,
  ): TemplateResult {
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
            ? message(
                t('agent'),
                progress(
                  isAgentAway === true ? t('waiting for a person') : t('{0} is writing', shortened(agent)),
                ),
                'agent',
              )
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
        return html`<p class="quiet">
          ${
            view.isAgentAway === true
              ? t('Waiting for a person in the agent’s seat; your dialogue is kept.')
              : t('The agent is writing; you answer next.')
          }
        </p>`;
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

  protected override async agree(consent: ConsentRequest): Promise<void> {
    await super.agree(consent);
    if (this.view?.phase === 'ready') await this.act(this.request('start'));
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

  protected override take({ view, leak }: SeatAnswer): void {
    this.leak = leak;
    this.show(view);
  }

  protected override show(view: SeatView, isAnew = false): void {
    const before = this.view?.task;
    super.show(view, isAnew);
    // Text that was written for another task.
    if (before !== undefined && this.view?.task?.id !== before.id) this.write('');
  }

  protected override seen({ turns, phase }: SeatView): Seen {
    return { turns: turns.length, isOwnTurn: phase === 'developer' };
  }
}

const explained: ConsentWords = {
  recorded: t('Recorded: your replies and their timing. The agent ({0}) gets the replies.'),
  ...storedAtServer,
};

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
