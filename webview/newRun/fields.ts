import { html, nothing, type TemplateResult } from 'lit';
import { ifDefined } from 'lit/directives/if-defined.js';
import { live } from 'lit/directives/live.js';
import { icon } from '../ui';
import type { Option } from './protocol';

/*
 * Labelled form controls. They are native, because an element outside of the toolkit's text field cannot describe the
 * input inside of it (docs/decisions/platform-controls.md), and the other controls should look the same.
 */

interface ControlOptions {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  /** Below the control, read after the label. */
  readonly about?: string;
  readonly error?: string;
  readonly warning?: string;
  readonly beside?: TemplateResult;
  readonly onChange: (value: string) => void;
}

export function textControl(options: ControlOptions & { readonly placeholder?: string }): TemplateResult {
  const { id, value, placeholder, onChange } = options;
  return labelled(
    options,
    html`<input
      id=${id}
      type="text"
      autocomplete="off"
      spellcheck="false"
      placeholder=${ifDefined(placeholder)}
      aria-describedby=${ifDefined(describedBy(options))}
      aria-invalid=${hasError(options)}
      .value=${live(value)}
      @input=${(event: Event) => onChange((event.target as HTMLInputElement).value)}
    />`,
  );
}

export function selectControl(
  options: ControlOptions & { readonly options: readonly Option[] },
): TemplateResult {
  const { id, value, onChange } = options;
  return labelled(
    options,
    html`<select
      id=${id}
      aria-describedby=${ifDefined(describedBy(options))}
      aria-invalid=${hasError(options)}
      @change=${(event: Event) => onChange((event.target as HTMLSelectElement).value)}
    >
      ${options.options.map(
        (one) =>
          html`<option value=${one.value} .selected=${live(one.value === value)}>${one.label}</option>`,
      )}
    </select>`,
  );
}

export function checkControl(
  options: Omit<ControlOptions, 'value' | 'onChange'> & {
    readonly isOn: boolean;
    readonly onChange: (isOn: boolean) => void;
  },
): TemplateResult {
  const { id, label, about = '', isOn, beside, onChange } = options;
  return html`<div class="field check-field">
    <span class="label-line"
      ><label class="check"
        ><input
          id=${id}
          type="checkbox"
          aria-describedby=${ifDefined(about === '' ? undefined : `${id}-about`)}
          .checked=${live(isOn)}
          @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}
        />${label}</label
      >${beside ?? nothing}</span
    >
    ${about === '' ? nothing : html`<p class="about" id="${id}-about">${about}</p>`}
  </div>`;
}

function labelled(options: ControlOptions, control: TemplateResult): TemplateResult {
  const { id, label, about = '', error = '', warning = '', beside } = options;
  return html`<div class="field">
    <span class="label-line"><label for=${id}>${label}</label>${beside ?? nothing}</span>
    ${control}
    ${error === '' ? nothing : html`<p class="error" id="${id}-error">${icon('error')}${error}</p>`}
    ${warning === '' ? nothing : html`<p class="error warned" id="${id}-warning">${icon('warning')}${warning}</p>`}
    ${about === '' ? nothing : html`<p class="about" id="${id}-about">${about}</p>`}
  </div>`;
}

type Described = Pick<ControlOptions, 'id' | 'about' | 'error' | 'warning'>;

const hasError = ({ error = '' }: Described): boolean => error !== '';

/** With the error first. */
function describedBy({ id, about = '', error = '', warning = '' }: Described): string | undefined {
  const ids = Object.entries({ error, warning, about }).flatMap(([name, text]) =>
    text === '' ? [] : [`${id}-${name}`],
  );
  return ids.length === 0 ? undefined : ids.join(' ');
}
