import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { withVisibleControls } from '../dialogue/protocol';
import { agentMessage, message, prose } from '../dialogue/turn';
import { t } from '../language';
import '../session/agentComposer';
import type { ConsentWords } from '../session/consent';
import { keys } from '../session/keys';
import type { ConsentForm, ConsentRequest } from '../session/protocol';
import { gradeSaid } from '../session/view';
import { button, icon, progress } from '../ui';
import type { AgentDialogue, AgentSeatAction, AgentSeatAnswer, AgentSeatView } from './protocol';
import { storageKey } from './connection';
import { SeatPageElement, storedAtServer, type Seen } from './page';

const DRAFT = storageKey('agent', 'draft');

interface AgentDraft {
  /** The one for which it was written. */
  readonly dialogue?: string;
  readonly text: string;
  readonly isAnswer?: true;
}

/** The agent's seat: a person asks another one, and answers. */
@customElement('tandem-agent-seat')
export class AgentSeatElement extends SeatPageElement<AgentSeatView, AgentSeatAction, AgentSeatAnswer> {
  @state() private kept = JSON.parse(sessionStorage.getItem(DRAFT) ?? '{"text":""}') as AgentDraft;

  private readonly composition = {
    write: (text: string): void => this.write({ ...this.draft, text }),
    answers: (isAnswer: boolean): void =>
      this.write({ text: this.draft.text, ...(isAnswer && { isAnswer }) }),
    send: (): void => void this.send(),
  };

  constructor() {
    super('agent', t('Play the agent'));
  }

  override render(): TemplateResult {
    const { view } = this;
    if (view === undefined) return this.opening();
    if (view.phase === 'consent') return this.consent(view.consent);
    const grade = view.phase === 'over' ? view.grade : undefined;
    return html`${this.header(view)}
      <main tabindex="0" aria-label=${t('Dialogue')}>
        <div class="column">
          ${view.phase === 'waiting' ? nothingWaits() : this.transcript(view.dialogue, view.phase)}
          ${grade === undefined ? nothing : html`<tandem-grade .grade=${grade}></tandem-grade>`}
        </div>
      </main>
      <p class="unseen" role="status">${grade === undefined ? '' : gradeSaid(grade)}</p>
      <footer>
        <div class="column">${this.notices()} ${this.actions(view)}</div>
      </footer>`;
  }

  private consent(form: ConsentForm): TemplateResult {
    return html`<main class="form" tabindex="0" aria-label=${t('Consent')}>
      <div class="column">
        <h1>${t('Play the agent')}</h1>
        <p>
          ${t(
            'You get a vague request, and ask the person who made it. Then you answer with the function; hidden tests grade it.',
          )}
        </p>
        ${this.notices()}
        <tandem-consent
          .job=${nothing}
          .suggestion=${form}
          .explained=${explained}
          .agreed=${(consent: ConsentRequest) => void this.agree(consent)}
        ></tandem-consent>
      </div>
    </main>`;
  }

  private header(view: AgentSeatView): TemplateResult {
    const dialogue = 'dialogue' in view ? view.dialogue : undefined;
    return html`<header>
      <div class="line">
        <h1>${dialogue?.title ?? t('Play the agent')}</h1>
        <ul class="facts">
          ${
            dialogue === undefined
              ? nothing
              : html`<li>${t('turn {0} of {1}', dialogue.turn, dialogue.maxTurns)}</li>`
          }
          ${this.person(view.own)}
        </ul>
      </div>
    </header>`;
  }

  private transcript(
    { description, developer, turns }: AgentDialogue,
    phase: AgentSeatView['phase'],
  ): TemplateResult {
    const name = withVisibleControls(developer);
    return html`${message(t('request'), prose(description), 'developer')}
      <div role="log" aria-live="polite" aria-label=${t('Turns')}>
        ${repeat(
          turns,
          ({ turn }) => turn,
          ({ reply, ...turn }) =>
            html`${agentMessage({ ...turn, thoughts: '' })}${
              reply === undefined
                ? nothing
                : message(name, html`<p class="plain">${withVisibleControls(reply)}</p>`, 'developer')
            }`,
        )}
        ${phase === 'developer' ? message(name, progress(t('{0} is answering', name)), 'developer') : nothing}
      </div>`;
  }

  private actions(view: AgentSeatView): TemplateResult {
    switch (view.phase) {
      case 'agent':
        return html`<tandem-agent-composer
          .state=${view.dialogue}
          .request=${view.dialogue.description}
          .composition=${this.composition}
          .draft=${this.draft}
          .isSending=${this.isSending}
        ></tandem-agent-composer>`;
      case 'developer':
        return html`<div class="actions">
          ${button({
            label: t('Another request'),
            title: t('Leave this dialogue to someone else in the agent’s seat'),
            onPress: () => this.next(),
          })}
        </div>`;
      case 'grading':
        return html`<div class="actions">${progress(t('Running the tests'))}</div>`;
      case 'over':
        return html`<div class="actions">
          ${button({
            ...{ id: 'primary', label: t('Next request'), kind: 'primary', key: keys.primary },
            onPress: () => this.next(),
          })}
        </div>`;
      case 'waiting':
      case 'consent':
        return html``;
    }
  }

  private next(): void {
    void this.act({ type: 'next', pseudonym: this.pseudonym ?? '' });
  }

  private get draft(): AgentDraft {
    return this.kept.dialogue === this.dialogueId ? this.kept : { text: '' };
  }

  private get dialogueId(): string | undefined {
    return this.view !== undefined && 'dialogue' in this.view ? this.view.dialogue.id : undefined;
  }

  private write(draft: AgentDraft): void {
    this.kept = { ...draft, dialogue: this.dialogueId };
    this.notice = undefined;
    sessionStorage.setItem(DRAFT, JSON.stringify(this.kept));
  }

  private async send(): Promise<void> {
    const { view, draft, pseudonym = '' } = this;
    if (view?.phase !== 'agent' || this.isSending) return;
    const { id, turn, turns } = view.dialogue;
    this.isSending = true;
    const isDone = await this.act({
      ...{ type: 'say', pseudonym, dialogue: id, turn, text: draft.text },
      isAnswer: draft.isAnswer === true,
    });
    this.isSending = false;
    if (!isDone || this.view === undefined || !('dialogue' in this.view)) return;
    const now = this.view.dialogue;
    if (now.id === id && now.turns.length > turns.length) this.write({ text: '' });
    else this.notice = t('Not sent: this dialogue went on in another tab. Your text is kept.');
  }

  protected override seen(view: AgentSeatView): Seen {
    const turns = 'dialogue' in view ? view.dialogue.turns.length : 0;
    return { turns, isOwnTurn: view.phase === 'agent' };
  }
}

const nothingWaits = (): TemplateResult =>
  html`<div class="nothing-left">
    ${icon('inbox')}
    <h2>${t('No request is waiting')}</h2>
    <p>${t('This page shows the next one by itself.')}</p>
  </div>`;

const explained: ConsentWords = {
  title: t('Before your first question'),
  recorded: t('Recorded: your questions and your answer. The developer, another person, gets them.'),
  ...storedAtServer,
};
