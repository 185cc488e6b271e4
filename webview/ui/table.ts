import './table.css';
import { html, type TemplateResult } from 'lit';
import { ifDefined } from 'lit/directives/if-defined.js';

/** Scrolls in its place, also with the keyboard. */
export const table = (label: string, content: TemplateResult, kind?: string): TemplateResult =>
  html`<div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table class=${ifDefined(kind)} aria-label=${label}>
      ${content}
    </table>
  </div>`;

export const numberColumn = (name: string): TemplateResult =>
  html`<th scope="col" class="number">${name}</th>`;
