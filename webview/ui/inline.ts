import { html, type TemplateResult } from 'lit';
import { t } from '../language';

/** How strongly curves are smoothed. */
export const SMOOTHINGS: readonly { readonly amount: number; readonly label: string }[] = [
  { amount: 0, label: t('none') },
  { amount: 0.6, label: t('a little') },
  { amount: 0.9, label: t('much') },
  { amount: 0.98, label: t('very much') },
];

/** From where on they are looked at. */
export const SHARES: readonly { readonly share: number; readonly label: string }[] = [
  { share: 1, label: t('all steps') },
  { share: 0.5, label: t('last half') },
  { share: 0.1, label: t('last tenth') },
];

/** One of several, in the platform's own list. */
export function select(
  label: string,
  options: readonly { readonly value: string; readonly label: string }[],
  chosen: string,
  onChoose: (value: string) => void,
): TemplateResult {
  return html`<label>
    ${label}
    <select @change=${(event: Event) => onChoose((event.target as HTMLSelectElement).value)}>
      ${options.map(
        (one) => html`<option value=${one.value} ?selected=${one.value === chosen}>${one.label}</option>`,
      )}
    </select>
  </label>`;
}
