/**
 * Components of Tandem's pages. Only this folder knows the toolkit and the icon font, so that replacing either of them
 * changes nothing else.
 */
import '@vscode/codicons/dist/codicon.css';
import './ui.css';
import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeProgressRing,
  vsCodeTextField,
  type TextField,
} from '@vscode/webview-ui-toolkit';
import { html, nothing, type TemplateResult } from 'lit';
import { ifDefined } from 'lit/directives/if-defined.js';
import { live } from 'lit/directives/live.js';
import { keyHint, keyName } from './keyName';
import { t } from '../language';
import { helpCommand, type HelpPage } from './protocol';

provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeProgressRing(), vsCodeTextField());

interface ButtonOptions {
  readonly label: string;
  readonly onPress: () => void;
  readonly kind?: 'primary' | 'secondary';
  /** A codicon. */
  readonly icon?: string;
  /** As in `aria-keyshortcuts`; shown beside the label where there is room. */
  readonly key?: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly id?: string;
}

/** Screen readers skip it, so words must stand beside it. */
export function icon(name: string): TemplateResult {
  return html`<span class="codicon codicon-${name}" aria-hidden="true"></span>`;
}

export function button(options: ButtonOptions): TemplateResult {
  const { label, kind = 'secondary', key, title, disabled = false, id } = options;
  return html`<vscode-button
    id=${ifDefined(id)}
    appearance=${kind}
    title=${ifDefined(keyHint(title, key))}
    aria-keyshortcuts=${ifDefined(key)}
    ?disabled=${disabled}
    @click=${options.onPress}
    >${options.icon === undefined ? nothing : html`<span slot="start">${icon(options.icon)}</span>`}${label}${
      key === undefined
        ? nothing
        : html`<span slot="end" class="key" aria-hidden="true">${keyName(key)}</span>`
    }</vscode-button
  >`;
}

/** @param key as in `aria-keyshortcuts` */
export function linkButton(
  label: string | TemplateResult,
  onPress: (event: Event) => void,
  title?: string,
  key?: string,
): TemplateResult {
  return html`<button
    type="button"
    class="link"
    title=${ifDefined(keyHint(title, key))}
    aria-keyshortcuts=${ifDefined(key)}
    @click=${onPress}
  >
    ${label}
  </button>`;
}

interface PickerOptions {
  readonly icon: string;
  readonly label: string;
  readonly title: string;
  /** Why nothing else can be chosen now; the picker is grey and shows it as the tooltip. */
  readonly refusal?: string | undefined;
  readonly onPress: () => void;
}

/** While grey, it keeps the focus to show the reason. */
export function picker({ icon: name, label, title, refusal, onPress }: PickerOptions): TemplateResult {
  return html`<button
    type="button"
    class="picker"
    title=${refusal ?? title}
    aria-disabled=${refusal !== undefined}
    aria-haspopup="listbox"
    @click=${() => {
      if (refusal === undefined) onPress();
    }}
  >
    ${icon(name)} <span class="cut">${label}</span> ${icon('chevron-down')}
  </button>`;
}

export function toggleLink(label: string, isOn: boolean, onPress: () => void): TemplateResult {
  return html`<button type="button" class="link" aria-pressed=${isOn} @click=${onPress}>
    ${icon(isOn ? 'check' : 'symbol-color')} ${label}
  </button>`;
}

interface IconButtonOptions {
  readonly icon: string;
  /** For screen readers, and the tooltip where there is no `title`. */
  readonly label: string;
  readonly title?: string;
  readonly key?: string;
  /** Of a toggle; absent for other buttons. */
  readonly isPressed?: boolean;
  readonly onPress: () => void;
}

export function iconButton(options: IconButtonOptions): TemplateResult {
  const { icon: name, label, title = label, key, isPressed, onPress } = options;
  return html`<button
    type="button"
    class="icon"
    title=${ifDefined(keyHint(title, key))}
    aria-label=${label}
    aria-keyshortcuts=${ifDefined(key)}
    aria-pressed=${ifDefined(isPressed)}
    @click=${onPress}
  >
    ${icon(name)}
  </button>`;
}

/** A row of a list of names and values. */
export const namedValue = (name: unknown, value: unknown): TemplateResult =>
  html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;

export function progress(label: string): TemplateResult {
  return html`<span class="progress"
    ><vscode-progress-ring aria-label=${label}></vscode-progress-ring><span>${label}</span></span
  >`;
}

interface TextFieldOptions {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly onInput?: (value: string) => void;
  /** When the field is left after a change. Enter leaves it; Escape drops the change and leaves it. */
  readonly onCommit?: (value: string) => void;
  /** The label is the placeholder; screen readers still read it. */
  readonly isLabelHidden?: boolean;
}

export function textField(options: TextFieldOptions): TemplateResult {
  const { id, label, value, onInput, onCommit, isLabelHidden = false } = options;
  const valueOf = (event: Event): string => (event.target as TextField).value;
  return html`<vscode-text-field
    id=${id}
    class=${isLabelHidden ? 'unlabelled' : ''}
    placeholder=${ifDefined(isLabelHidden ? label : undefined)}
    .value=${value}
    @input=${(event: Event) => onInput?.(valueOf(event))}
    @change=${(event: Event) => onCommit?.(valueOf(event))}
    @keydown=${(event: KeyboardEvent) => {
      if (onCommit === undefined || (event.key !== 'Enter' && event.key !== 'Escape')) return;
      // Otherwise the key would press the element that gets the focus next.
      event.preventDefault();
      if (event.key === 'Escape') (event.target as TextField).value = value;
      // The toolkit's element passes the focus to a control inside of it, but does not take it away again.
      (event.composedPath()[0] as HTMLElement).blur();
    }}
    >${label}</vscode-text-field
  >`;
}

interface ChoiceOptions<Value extends string> {
  readonly id: string;
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly { readonly value: Value; readonly label: string; readonly detail?: string }[];
  readonly onChoose: (value: Value) => void;
}

/** Native, because they handle the arrow keys and screen readers read their details. */
export function radioGroup<Value extends string>(options: ChoiceOptions<Value>): TemplateResult {
  const { id, label, value, choices, onChoose } = options;
  return html`<fieldset class="choices">
    <legend>${label}</legend>
    ${choices.map(
      (choice) =>
        html`<label>
          <input
            type="radio"
            name=${id}
            aria-labelledby="${id}-${choice.value}"
            aria-describedby="${id}-${choice.value}-detail"
            .checked=${choice.value === value}
            @change=${() => onChoose(choice.value)}
          />
          <span>
            <span id="${id}-${choice.value}">${choice.label}</span>
            <span class="quiet" id="${id}-${choice.value}-detail">${choice.detail ?? ''}</span>
          </span>
        </label>`,
    )}
  </fieldset>`;
}

interface AreaOptions {
  readonly id: string;
  /** Also the placeholder. */
  readonly label: string;
  readonly value: string;
  readonly describedBy?: string;
  readonly invalid?: boolean;
  readonly disabled: boolean;
  /** Keeps the focus; the text cannot be changed. */
  readonly readOnly?: boolean;
  readonly onInput: (value: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

/** Every change sends and keeps the whole text. */
const MAX_CHARS = 100_000;

/**
 * Native, because an element outside of the toolkit's text area cannot describe the control inside of it
 * (docs/decisions/platform-controls.md).
 */
export function textArea(options: AreaOptions): TemplateResult {
  const { id, label, value, describedBy, invalid = false, disabled, readOnly = false } = options;
  const { onInput, onKey } = options;
  return html`<textarea
    id=${id}
    aria-label=${label}
    aria-describedby=${ifDefined(describedBy)}
    aria-invalid=${invalid}
    placeholder=${label}
    maxlength=${MAX_CHARS}
    ?disabled=${disabled}
    ?readonly=${readOnly}
    .value=${value}
    @input=${(event: Event) => onInput((event.target as HTMLTextAreaElement).value)}
    @keydown=${onKey}
  ></textarea>`;
}

export function help(sentence: string, page: HelpPage): TemplateResult {
  return html`<p class="help">
    ${icon('question')}
    <span
      >${sentence}
      <a href="command:${helpCommand}?${encodeURIComponent(JSON.stringify([page]))}"
        >${t('Open help')}</a
      ></span
    >
  </p>`;
}

/** @param refusal why nothing can be chosen now; the select is grey and has it as its tooltip */
export function inlineSelect(
  label: string,
  options: readonly { readonly value: string; readonly label: string }[],
  chosen: string,
  onChoose: (value: string) => void,
  refusal?: string,
): TemplateResult {
  return html`<label class="inline" title=${ifDefined(refusal)}>
    ${label}
    <select
      ?disabled=${refusal !== undefined}
      @change=${(event: Event) => onChoose((event.target as HTMLSelectElement).value)}
    >
      ${options.map(
        ({ value, label: name }) =>
          html`<option value=${value} .selected=${live(value === chosen)}>${name}</option>`,
      )}
    </select>
  </label>`;
}

export function inlineCheck(
  label: string,
  isOn: boolean,
  onChange: (isOn: boolean) => void,
  refusal?: string,
): TemplateResult {
  return html`<label class="check inline" title=${ifDefined(refusal)}
    ><input
      type="checkbox"
      ?disabled=${refusal !== undefined}
      .checked=${live(isOn)}
      @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}
    />${label}</label
  >`;
}
