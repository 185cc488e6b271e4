import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { keys } from '../session/keys';
import type { LeakWarning } from '../session/protocol';
import { button, icon } from '../ui';
import { withVisibleControls } from './protocol';

/** In place of the buttons of a composer, whose reply gives the reference away and was not sent. */
export const heldBack = (
  { percent, passages }: LeakWarning,
  onEdit: () => void,
  onSend: () => void,
): TemplateResult =>
  html`<div class="notice warning" role="alert">
      ${icon('warning')}
      <div>
        <p>
          ${t('Not sent yet: this gives away {0} % of the reference.', percent)}
          <span id="passages">${t('These passages are in the reference:')}</span>
        </p>
        <ul class="passages" aria-labelledby="passages">
          ${passages.map((passage) => html`<li><code>${withVisibleControls(passage)}</code></li> `)}
        </ul>
        <p>${t('An agent that is handed the code does not learn to ask. Use plain words.')}</p>
      </div>
    </div>
    <div class="actions">
      ${button({ id: 'edit', label: t('Edit'), kind: 'primary', key: keys.primary, onPress: onEdit })}
      ${button({ label: t('Send anyway'), onPress: onSend })}
    </div>`;
