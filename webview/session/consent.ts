import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { button, textField } from '../ui';
import { PlainElement } from '../dialogue/element';
import { host } from './host';
import { keys } from './keys';
import type { ConsentRequest } from './protocol';

/** Asked once, before anything of the developer is logged. */
@customElement('tandem-consent')
export class ConsentElement extends PlainElement {
  @property({ attribute: false }) suggestion!: ConsentRequest;
  @property({ attribute: false }) agent = '';
  @state() private pseudonym: string | undefined;
  @state() private purpose: string | undefined;

  override render(): TemplateResult {
    const consent = this.consent;
    const complete = consent.pseudonym !== '' && consent.purpose !== '';
    const agree = (): void => {
      if (complete) host.send({ type: 'start', consent });
    };
    return html`<form
      class="consent"
      aria-labelledby="consent-title"
      @keydown=${(event: KeyboardEvent) => {
        if (event.key !== 'Enter' || (event.target as Element).localName === 'vscode-button') return;
        event.preventDefault();
        agree();
      }}
    >
      <h2 id="consent-title">Before your first reply</h2>
      <p>
        What you write goes to the agent (<span class="name">${this.agent}</span>) and, under the pseudonym
        below, into the log in this workspace. Tandem sends it nowhere else. You are asked only once.
      </p>
      <div class="fields">
        ${textField({
          id: 'pseudonym',
          label: 'Pseudonym',
          value: consent.pseudonym,
          onInput: (value) => (this.pseudonym = value),
        })}
        ${textField({
          id: 'purpose',
          label: 'What the dialogues are for',
          value: consent.purpose,
          onInput: (value) => (this.purpose = value),
        })}
      </div>
      <div class="actions">
        ${button({
          id: 'primary',
          label: 'Agree and start',
          kind: 'primary',
          key: keys.primary,
          disabled: !complete,
          onPress: agree,
        })}
      </div>
    </form>`;
  }

  private get consent(): ConsentRequest {
    const { pseudonym, purpose } = this.suggestion;
    return { pseudonym: (this.pseudonym ?? pseudonym).trim(), purpose: (this.purpose ?? purpose).trim() };
  }
}
