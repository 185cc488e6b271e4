import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { button, keyName, linkButton, textArea } from '../ui';
import { PlainElement } from '../dialogue/element';
import { host } from './host';
import { keys } from './keys';
import type { SessionState } from './protocol';
import { modelLabel } from '../dialogue/names';
import { replyLength } from './view';

/** Where the developer writes the reply; keeps the draft until the reply is in the log. */
@customElement('tandem-composer')
export class ComposerElement extends PlainElement {
  @property({ attribute: false }) state!: SessionState;
  @property({ attribute: false }) draft = '';
  /** The reply is on its way to the log. */
  @property({ attribute: false }) sending = false;
  @property({ attribute: false }) onDraft: (draft: string) => void = () => undefined;
  @property({ attribute: false }) onSend: () => void = () => undefined;

  override render(): TemplateResult {
    const length = replyLength(this.draft, this.state.replyLimit);
    const { simulator } = this.state;
    const named = modelLabel(simulator) || 'The simulator';
    return html`<div class="composer">
        ${textArea({
          id: 'reply',
          label: 'Your reply to the agent',
          placeholder: 'Your reply to the agent',
          value: this.draft,
          disabled: this.sending,
          onInput: this.onDraft,
          onKey: (event) => this.keyed(event),
        })}
        <span
          id="reply-length"
          class="counter ${length.over > 0 ? 'over' : ''}"
          title="Characters of a reply"
        >
          ${length.words}
        </span>
      </div>
      <div class="actions">
        ${button({
          id: 'send',
          label: 'Send',
          kind: 'primary',
          key: keyName(keys.send),
          disabled: !this.sendable,
          onPress: this.onSend,
        })}
        ${button({
          label: 'Let the simulator answer',
          key: keyName(keys.simulatorOnce),
          title: `${named} answers this one turn`,
          disabled: this.sending,
          onPress: () => host.act('simulator-once'),
        })}
        ${button({
          label: '… from here on',
          key: keyName(keys.simulatorOn),
          title: `${named} plays the human until you take the seat back`,
          disabled: this.sending,
          onPress: () => host.act('simulator-on'),
        })}
        <span class="rest">
          ${linkButton('End now', () => host.act('end-now'), "Take the agent's last message as its answer and grade it")}
          ${linkButton('Skip…', () => host.act('skip'), 'Leave this task, with a reason')}
        </span>
      </div>`;
  }

  private get sendable(): boolean {
    return (
      !this.sending && this.draft.trim() !== '' && replyLength(this.draft, this.state.replyLimit).over === 0
    );
  }

  private keyed(event: KeyboardEvent): void {
    // Enter that ends a composition (Japanese, Chinese) belongs to the input method.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (this.sendable) this.onSend();
  }
}
