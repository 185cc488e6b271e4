import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { button, textArea } from '../ui';
import type { Composition } from './host';
import { keys } from './keys';
import type { Draft, SessionState } from './protocol';

/** With the signature that a request names last; empty where it names none. */
export function beginningOf(request: string): string {
  const signature = [...request.matchAll(/\bdef \w+\([^\n`]*\)/gu)].at(-1)?.[0];
  return signature === undefined ? '' : `${signature}:\n    `;
}

/** A person who plays the agent asks, or answers with code, in which Enter begins a line. */
@customElement('tandem-agent-composer')
export class AgentComposerElement extends PlainElement {
  @property({ attribute: false }) state!: Pick<SessionState, 'turn' | 'maxTurns'>;
  /** What the agent is asked for, Markdown. */
  @property({ attribute: false }) request = '';
  @property({ attribute: false }) composition!: Pick<Composition, 'write' | 'answers' | 'send'>;
  /** Other ways on, beside the buttons. */
  @property({ attribute: false }) rest: unknown = nothing;
  /** A new object after each change, so that it is drawn again. */
  @property({ attribute: false }) draft!: Draft;
  @property({ attribute: false }) isSending = false;

  override render(): TemplateResult {
    const { draft, isSending, isAnswer, isLast } = this;
    return html`${isLast ? html`<p class="quiet">${t('The last turn: what you send now is your answer.')}</p>` : nothing}
      <div class="composer ${isAnswer ? 'code' : ''}">
        ${textArea({
          id: 'reply',
          label: isAnswer ? t('Your answer: the whole function, in Python') : t('Your question'),
          value: draft.text,
          disabled: isSending,
          onInput: (text) => this.composition.write(text),
          onKey: (event) => this.keyed(event),
        })}
      </div>
      <div class="actions" ?inert=${isSending}>
        ${button({
          id: 'send',
          label: isAnswer ? t('Answer and grade') : t('Ask'),
          kind: 'primary',
          key: isAnswer ? keys.answer : keys.send,
          disabled: !this.isSendable,
          onPress: () => this.send(),
        })}
        ${isLast ? nothing : this.change()} ${this.rest}
      </div>`;
  }

  private change(): TemplateResult {
    const { isAnswer } = this;
    return button({
      label: isAnswer ? t('Ask instead') : t('Write the answer'),
      title: isAnswer
        ? t('What you wrote becomes a question')
        : t('Write the function; what you wrote stays'),
      onPress: () => {
        this.composition.answers(!isAnswer);
        if (!isAnswer && this.draft.text === '') this.composition.write(beginningOf(this.request));
        this.querySelector<HTMLElement>('#reply')?.focus();
      },
    });
  }

  /** In the last turn the protocol takes whatever is sent as the answer. */
  private get isLast(): boolean {
    return this.state.turn >= this.state.maxTurns;
  }

  private get isAnswer(): boolean {
    return this.isLast || this.draft.isAnswer === true;
  }

  private get isSendable(): boolean {
    return !this.isSending && this.draft.text.trim() !== '';
  }

  private send(): void {
    if (this.isLast && this.draft.isAnswer !== true) this.composition.answers(true);
    this.composition.send();
  }

  private keyed(event: KeyboardEvent): void {
    // Keys that an input method needs to end a composition (Japanese, Chinese) belong to the input method.
    if (event.isComposing || event.shiftKey || event.altKey || event.key !== 'Enter') return;
    if (this.isAnswer && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (this.isSendable) this.send();
  }
}
