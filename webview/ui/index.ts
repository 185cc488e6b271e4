/**
 * The components that Tandem's views are built of. This folder is the only one that knows the toolkit and the icon
 * font, so that replacing either is a change here.
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
import { keyHint, keyName } from './keyName';

provideVSCodeDesignSystem().register(vsCodeButton(), vsCodeProgressRing(), vsCodeTextField());

export interface ButtonOptions {
  readonly label: string;
  readonly onPress: () => void;
  readonly kind?: 'primary' | 'secondary';
  /** A codicon's name, shown before the label. */
  readonly icon?: string;
  /** The key that does the same, in the words of `aria-keyshortcuts`; shown beside the label, where that is wide enough. */
  readonly key?: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly id?: string;
}

/** A codicon; says nothing to a screen reader, so that words must stand beside it. */
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

/** A button that reads as a link, for what opens something beside. @param key the key that does the same */
export function linkButton(label: string, onPress: () => void, title?: string, key?: string): TemplateResult {
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

export interface PickerOptions {
  /** A codicon's name. */
  readonly icon: string;
  readonly label: string;
  /** What a press opens. */
  readonly title: string;
  /** Why nothing else can be chosen now; the picker is grey, and says so. */
  readonly refusal?: string | undefined;
  readonly onPress: () => void;
}

/** A fact that opens the choice of another one. It keeps the focus while it is grey, so that its reason can be read. */
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

/** A button that reads as a link, for what stays on until it is pressed again. */
export function toggleLink(label: string, isOn: boolean, onPress: () => void): TemplateResult {
  return html`<button type="button" class="link toggle" aria-pressed=${isOn} @click=${onPress}>
    ${icon(isOn ? 'check' : 'symbol-color')} ${label}
  </button>`;
}

export interface IconButtonOptions {
  /** A codicon's name. */
  readonly icon: string;
  /** Read, and shown when the pointer rests on it. */
  readonly label: string;
  /** The key that does the same, in the words of `aria-keyshortcuts`. */
  readonly key?: string;
  /** Of a button that stays down: whether it is. */
  readonly isPressed?: boolean;
  readonly onPress: () => void;
}

export function iconButton(options: IconButtonOptions): TemplateResult {
  const { icon: name, label, key, isPressed, onPress } = options;
  return html`<button
    type="button"
    class="icon"
    title=${ifDefined(keyHint(label, key))}
    aria-label=${label}
    aria-keyshortcuts=${ifDefined(key)}
    aria-pressed=${ifDefined(isPressed)}
    @click=${onPress}
  >
    ${icon(name)}
  </button>`;
}

/** Something is under way; `label` says what. */
export function progress(label: string): TemplateResult {
  return html`<span class="progress"
    ><vscode-progress-ring aria-label=${label}></vscode-progress-ring><span>${label}</span></span
  >`;
}

export interface FieldOptions {
  readonly id: string;
  readonly label: string;
  readonly value: string;
}

export interface TextFieldOptions extends FieldOptions {
  readonly onInput?: (value: string) => void;
  /** Called when the field is left after a change. Enter leaves it, Escape drops the change and leaves it. */
  readonly onCommit?: (value: string) => void;
  /** The label is read; the eye sees it as the placeholder. */
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
      // Else the key would press whatever gets the focus next.
      event.preventDefault();
      if (event.key === 'Escape') (event.target as TextField).value = value;
      // The toolkit's element passes the focus on to a control inside of it, but does not take it away again.
      (event.composedPath()[0] as HTMLElement).blur();
    }}
    >${label}</vscode-text-field
  >`;
}

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** One line below the label. */
  readonly detail: string;
}

export interface ChoiceOptions<Value extends string> {
  readonly id: string;
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChoose: (value: Value) => void;
}

/** One of a few, all of them in sight. The platform's own radio buttons: arrow keys, and the words of the details read. */
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
            <span class="quiet" id="${id}-${choice.value}-detail">${choice.detail}</span>
          </span>
        </label>`,
    )}
  </fieldset>`;
}

export interface AreaOptions extends FieldOptions {
  readonly placeholder: string;
  /** The id of what is read after the label. */
  readonly describedBy: string;
  readonly invalid: boolean;
  readonly disabled: boolean;
  /** What is in it can be read, not changed; it keeps the focus. */
  readonly readOnly: boolean;
  readonly onInput: (value: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

/** Characters that can be typed or pasted; every change of a text is sent and kept. */
const MOST_CHARACTERS = 100_000;

/**
 * A text of several lines. `label` is read, not shown. The platform's own: what stands inside of the toolkit's element
 * cannot be described by anything outside of it (docs/decisions/platform-controls.md).
 */
export function textArea(options: AreaOptions): TemplateResult {
  const { id, label, value, placeholder, describedBy, invalid, disabled, readOnly, onInput, onKey } = options;
  return html`<textarea
    id=${id}
    aria-label=${label}
    aria-describedby=${describedBy}
    aria-invalid=${invalid}
    placeholder=${placeholder}
    maxlength=${MOST_CHARACTERS}
    ?disabled=${disabled}
    ?readonly=${readOnly}
    .value=${value}
    @input=${(event: Event) => onInput((event.target as HTMLTextAreaElement).value)}
    @keydown=${onKey}
  ></textarea>`;
}
