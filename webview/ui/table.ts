import './table.css';
import { html, type nothing, type TemplateResult } from 'lit';
import { ifDefined } from 'lit/directives/if-defined.js';

/** Scrolls in its place, also with the keyboard. @param content its head and its body */
export const scrollingTable = (label: string, content: TemplateResult, kind?: string): TemplateResult =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class=${ifDefined(kind)} aria-label=${label}>
      ${content}
    </table>
  </div>`;

/** @param titles of the columns; a text becomes a header of its own @param rows their cells */
export const table = (
  label: string,
  titles: readonly (string | TemplateResult | typeof nothing)[],
  rows: readonly TemplateResult[],
  kind?: string,
): TemplateResult =>
  scrollingTable(
    label,
    html`<thead>
        <tr>
          ${titles.map((title) => (typeof title === 'string' ? html`<th scope="col">${title}</th>` : title))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells}
            </tr>`,
        )}
      </tbody>`,
    kind,
  );

export const numberColumn = (name: string): TemplateResult =>
  html`<th scope="col" class="number">${name}</th>`;
