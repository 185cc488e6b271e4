import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import './consent.css';
import { PlainElement } from '../dialogue/element';
import { button, radioGroup, textField } from '../ui';
import { host } from './host';
import { keys } from './keys';
import { levels, type ConsentForm, type ConsentRequest } from './protocol';

/** One page, before anything of the developer is logged: what is kept, where, what for, and how far it may go. */
@customElement('tandem-consent')
export class ConsentElement extends PlainElement {
  @property({ attribute: false }) suggestion!: ConsentForm;
  @property({ attribute: false }) agent = '';
  @state() private pseudonym: string | undefined;
  @state() private purpose: string | undefined;
  @state() private level: ConsentRequest['level'] | undefined;

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
      <dl>
        <dt>Kept</dt>
        <dd>
          Your replies, how long each took, what you change in a suggestion, choices, ratings, comments. The
          agent (<span class="name">${this.agent}</span>) gets the replies.
        </dd>
        <dt>Where</dt>
        <dd>In the log in <code>${this.suggestion.folder}</code>. Tandem sends it nowhere else.</dd>
        <dt>Later</dt>
        <dd>
          <span class="name">Change Pseudonym and Consent…</span> and
          <span class="name">Delete My Data…</span> in the Command Palette.
        </dd>
      </dl>
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
      ${radioGroup({
        id: 'level',
        label: 'How far it may go',
        value: consent.level,
        choices: Object.entries(levels).map(([value, words]) => ({
          value: value as ConsentRequest['level'],
          ...words,
        })),
        onChoose: (value) => (this.level = value),
      })}
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
    const { pseudonym, purpose, level } = this.suggestion;
    return {
      pseudonym: (this.pseudonym ?? pseudonym).trim(),
      purpose: (this.purpose ?? purpose).trim(),
      level: this.level ?? level,
    };
  }
}
