import './inline.css';
import { html, type TemplateResult } from 'lit';
import { ifDefined } from 'lit/directives/if-defined.js';
import { live } from 'lit/directives/live.js';
import type { SelectOption } from './field';

/** @param refusal why nothing can be chosen now; the select is grey and has it as its tooltip */
export function inlineSelect(
  label: string,
  options: readonly SelectOption[],
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
