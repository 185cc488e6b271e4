import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { icon, iconButton } from '../ui';
import { host } from './host';
import type { Action, Replay } from './protocol';

export function labelButtons({ episode }: Replay): TemplateResult {
  const ask = (label: string, action: Action, look: string, title: string): TemplateResult =>
    iconButton({ icon: look, label, title, onPress: () => host.act(action, episode) });
  return html`<span class="buttons">
    ${ask(t('rename…'), 'rename', 'edit', t('Give the dialogue a title of your own'))}
    ${ask(t('tags…'), 'tag', 'tag', t('Choose the tags of the dialogue'))}
    ${ask(t('note…'), 'note', 'note', t('Write a note on the dialogue'))}
  </span>`;
}

/** @param named the other name of the dialogue or the task, as a fact before the tags */
export const labelFacts = ({ label }: Replay, named: string | undefined): TemplateResult =>
  html`${named === undefined ? nothing : html`<li>${named}</li>`}
  ${
    label === undefined || label.tags.length === 0
      ? nothing
      : html`<li>${icon('tag')} ${label.tags.join(' · ')}</li>`
  }`;

export const notes = ({ label }: Replay): TemplateResult[] =>
  (label?.notes ?? []).map(
    ({ by, text }) =>
      html`<p class="note">
        ${icon('note')} ${withVisibleControls(text)} <span class="quiet">${withVisibleControls(by)}</span>
      </p>`,
  );
