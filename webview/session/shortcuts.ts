import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { keyName } from '../ui/keyName';
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
    <summary title=${t('Keyboard shortcuts ({0})', keys.listKeys)} aria-keyshortcuts=${keys.listKeys}>
      ${t('keys')}
    </summary>
    <dl aria-label=${t('Keyboard shortcuts')}>
      ${listed.map(
        (one) =>
          html`<dt>${one.keys.map((key) => html`<kbd>${keyName(key)}</kbd> `)}</dt>
            <dd>${one.does}</dd>`,
      )}
    </dl>
  </details>`;
}
