import { html, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { givenName } from '../dialogue/names';
import { t } from '../language';
import { button, radioGroup, textField } from '../ui';
import { keys } from './keys';
import { levels, levelWords, type ModelNames, type ConsentForm, type ConsentRequest } from './protocol';

/** What the form promises, which depends on where the person and the data folder are. */
export interface ConsentWords {
  /** What a developer's replies are recorded with; the agent in place of `{0}`. */
  readonly recorded: string;
  /** When what is recorded are no replies. */
  readonly title?: string;
  /** With the folder in place of `{0}`. */
  readonly stored: string;
  readonly levels: ReturnType<typeof levelWords>;
  readonly later: unknown;
}

const name = (text: string): TemplateResult => html`<span class="name">${text}</span>`;

const inEditor: ConsentWords = {
  recorded: t(
    'Recorded: your replies and their timing, edits to drafts, choices, ratings, and comments. The agent ({0}) gets the replies.',
  ),
  levels: levelWords(t),
  stored: t('In {0}. Tandem sends it nowhere else.'),
  later: filled(
    t('{0} and {1} in the Command Palette.'),
    name(t('Change Pseudonym and Consent…')),
    name(t('Delete My Data…')),
  ),
};

/** Shown before anything of the developer is logged. */
@customElement('tandem-consent')
export class ConsentElement extends PlainElement {
  /** What the developer has to do, where they do not know it yet. */
  @property({ attribute: false }) job: unknown;
  @property({ attribute: false }) suggestion!: ConsentForm;
  @property({ attribute: false }) agent = '';
  /** Where the person plays the agent. */
  @property({ attribute: false }) simulator: string | undefined;
  @property({ attribute: false }) called: ModelNames = {};
  @property({ attribute: false }) explained: ConsentWords = inEditor;
  @property({ attribute: false }) agreed!: (consent: ConsentRequest) => void;
  @state() private pseudonym: string | undefined;
  @state() private purpose: string | undefined;
  @state() private level: ConsentRequest['level'] | undefined;

  override render(): TemplateResult {
    const consent = this.consent;
    const complete = consent.pseudonym !== '' && consent.purpose !== '';
    const agree = (): void => {
      if (complete) this.agreed(consent);
    };
    return html`<form
      class="consent"
      aria-labelledby="consent-title"
      @keydown=${(event: KeyboardEvent) => {
        const { localName } = event.target as Element;
        if (event.key !== 'Enter' || ['vscode-button', 'summary'].includes(localName)) return;
        event.preventDefault();
        agree();
      }}
    >
      <div class="page">
        ${this.job}
        <h2 id="consent-title">
          ${
            this.explained.title ??
            (this.simulator === undefined ? t('Before your first reply') : t('Before your first question'))
          }
        </h2>
        <p>
          ${filled(
            this.simulator === undefined
              ? this.explained.recorded
              : t('Recorded: your questions and your answer. The simulator ({0}) gets the questions.'),
            name(this.simulator ?? givenName(this.agent, this.called) ?? this.agent),
          )}
        </p>
        <details>
          <summary>${t('Learn more')}</summary>
          <dl>
            <dt>${t('Where it’s stored')}</dt>
            <dd>${filled(this.explained.stored, html`<code>${this.suggestion.folder}</code>`)}</dd>
            <dt>${t('Change or delete later')}</dt>
            <dd>${this.explained.later}</dd>
          </dl>
        </details>
        <div class="fields">
          ${textField({
            id: 'pseudonym',
            label: t('Pseudonym'),
            value: consent.pseudonym,
            onInput: (value) => (this.pseudonym = value),
          })}
          ${textField({
            id: 'purpose',
            label: t('What these dialogues are for'),
            value: consent.purpose,
            onInput: (value) => (this.purpose = value),
          })}
        </div>
        ${radioGroup({
          id: 'level',
          label: t('Sharing'),
          value: consent.level,
          choices: levels.map((value) => ({ value, ...this.explained.levels[value] })),
          onChoose: (value) => (this.level = value),
        })}
        <p class="quiet" aria-hidden="true">${this.explained.levels[consent.level].detail}</p>
      </div>
      <div class="actions">
        ${button({
          id: 'primary',
          label: t('Agree and start'),
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

/** Fills markup into a sentence that was translated as a whole: `t('In {0}.')`. */
function filled(sentence: string, ...parts: readonly TemplateResult[]): TemplateResult {
  // Every second piece is the number of a placeholder.
  const pieces = sentence.split(/\{(\d+)\}/);
  return html`${pieces.map((piece, index) => (index % 2 === 0 ? piece : parts[Number(piece)]))}`;
}
