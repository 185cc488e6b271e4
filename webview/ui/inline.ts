import './inline.css';
import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { SelectOption } from './field';

/** Draws a select with its label in the same line. */
export function inlineSelect(
  label: string,
  options: readonly SelectOption[],
  chosen: string,
  onChoose: (value: string) => void,
): TemplateResult {
  return html`<label class="inline">
    ${label}
    <select @change=${(event: Event) => onChoose((event.target as HTMLSelectElement).value)}>
      ${options.map(
        ({ value, label: name }) =>
          html`<option value=${value} .selected=${live(value === chosen)}>${name}</option>`,
      )}
    </select>
  </label>`;
}

export function inlineCheck(label: string, isOn: boolean, onChange: (isOn: boolean) => void): TemplateResult {
  return html`<label class="check inline"
    ><input
      type="checkbox"
      .checked=${live(isOn)}
      @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}
    />${label}</label
  >`;
}
