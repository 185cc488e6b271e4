import './help.css';
import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon } from '.';
import { helpCommand, type HelpPage } from './protocol';

export function help(sentence: string, page: HelpPage): TemplateResult {
  return html`<p class="help">
    ${icon('question')}
    <span
      >${sentence}
      <a href="command:${helpCommand}?${encodeURIComponent(JSON.stringify([page]))}"
        >${t('Open help')}</a
      ></span
    >
  </p>`;
}
