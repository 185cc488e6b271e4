import { html, nothing, type TemplateResult } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { renderMarkdown } from './markdown';
import { withVisibleControls } from './untrusted';
import type { StreamView } from '../session/protocol';

/** Markdown from the agent; `renderMarkdown` lets no HTML of its own through. */
export function prose(source: string): TemplateResult {
  return html`<div class="prose">${unsafeHTML(renderMarkdown(source))}</div>`;
}

/** A finished message of the agent. */
export function said(visible: string): TemplateResult {
  return visible === '' ? html`<p class="quiet">The agent said nothing.</p>` : prose(visible);
}

export function thoughtsOf(thoughts: string, whose: string): TemplateResult | typeof nothing {
  if (thoughts === '') return nothing;
  return html`<details class="thoughts">
    <summary aria-label="Thoughts of ${whose}">thoughts</summary>
    <p class="plain">${withVisibleControls(thoughts)}</p>
  </details>`;
}

/** What has come so far of a message that is being written. */
export function streamed({ by, text, thinking, left = 0 }: StreamView): TemplateResult {
  const waiting = thinking === 0 ? 'waits for the first word' : `thinking, ${thinking} characters so far`;
  if (text === '') return html`<p class="quiet">${waiting}<span class="caret"></span></p>`;
  return html`<div class="streaming">
      ${by === 'agent' ? prose(text) : html`<p class="plain">${withVisibleControls(text)}</p>`}
    </div>
    ${left === 0 ? nothing : html`<p class="quiet">${left.toLocaleString('en')} more characters so far</p>`}`;
}
