import { html, type TemplateResult } from 'lit';
import { keyName } from '../ui';
import { keys, listed } from './keys';
import './shortcuts.css';

/** All keys of the session, folded away. */
export function shortcuts(): TemplateResult {
  const close = (event: KeyboardEvent): void => {
    const list = event.currentTarget as HTMLDetailsElement;
    if (event.key !== 'Escape' || !list.open) return;
    event.stopPropagation();
    list.open = false;
  };
  return html`<details class="shortcuts" @keydown=${close}>
    <summary title="Keyboard shortcuts (${keys.listKeys})" aria-keyshortcuts=${keys.listKeys}>keys</summary>
    <dl aria-label="Keyboard shortcuts">
      ${listed.map(
        (one) =>
          html`<dt>${one.keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</dt>
            <dd>${one.does}</dd>`,
      )}
    </dl>
  </details>`;
}
