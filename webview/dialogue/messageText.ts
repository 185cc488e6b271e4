import { html, nothing, type TemplateResult } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { renderMarkdown } from './markdown';
import { icon } from '../ui';
import { withVisibleControls } from './untrusted';
import type { MessageView, StreamView } from '../session/protocol';

/** `renderMarkdown` lets no HTML of the agent through. */
export const prose = (source: string): TemplateResult => drawn(renderMarkdown(source));

/** @param rendered safe HTML, as `renderMarkdown` returns it */
export function drawn(rendered: string): TemplateResult {
  return html`<div class="prose">${unsafeHTML(rendered)}</div>`;
}

export function said({
  visible,
  isCut,
  draft,
}: Pick<MessageView, 'visible' | 'isCut' | 'draft'>): TemplateResult | typeof nothing {
  if (visible !== '') return prose(visible);
  if (draft !== undefined) return nothing;
  const words = isCut
    ? t(
        'The agent said nothing: it spent all its tokens on thoughts. Allow more tokens, or let the model think less.',
      )
    : t('The agent said nothing.');
  return html`<p class="quiet">${words}</p>`;
}

/** The page in a message, as it was written. */
export function sourceOf(draft: MessageView['draft']): TemplateResult | typeof nothing {
  if (draft === undefined) return nothing;
  return html`<details class="thoughts">
    <summary>${t('HTML of the page, {0} characters', grouped(draft.characters))}</summary>
    <pre tabindex="0"><code>${withVisibleControls(draft.source)}</code></pre>
    ${draft.characters > draft.source.length ? notDrawn(draft.characters - draft.source.length) : nothing}
  </details>`;
}

export function thoughtsOf(thoughts: string, label: string): TemplateResult | typeof nothing {
  if (thoughts === '') return nothing;
  return html`<details class="thoughts">
    <summary aria-label=${label}>${t('thoughts')}</summary>
    <p class="plain">${withVisibleControls(thoughts)}</p>
  </details>`;
}

export function streamed({
  by,
  text,
  thinking,
  thoughts = '',
  retrying,
  ended,
  left = 0,
}: StreamView): TemplateResult {
  const isLive = retrying === undefined && ended === undefined;
  return html`${
    isLive && text === ''
      ? html`<p class="quiet">${waiting(thinking)}<span class="caret"></span></p>`
      : nothing
  }
  ${
    text === ''
      ? thoughts === ''
        ? nothing
        : html`<p class="plain quiet thinking">${withVisibleControls(thoughts)}</p>`
      : html`<div class=${isLive ? 'streaming' : 'unfinished'}>
          ${by === 'agent' ? prose(text) : html`<p class="plain">${withVisibleControls(text)}</p>`}
        </div>`
  }
  ${left === 0 ? nothing : html`<p class="quiet">${ended === undefined ? furtherWords(left) : notDrawn(left)}</p>`}
  ${retrying === undefined ? nothing : html`<p class="quiet">${icon('sync')} ${retryWords(retrying)}</p>`}
  ${
    ended === undefined
      ? nothing
      : html`<p class="quiet" role="status">${icon('circle-slash')} ${endedWords(ended)}</p>`
  }`;
}

const endedWords = (ended: NonNullable<StreamView['ended']>): string =>
  ended === 'stopped'
    ? t('Stopped. This partial message is not in the log.')
    : t('Interrupted. This partial message is not in the log.');

function waiting(thinking: number): string {
  return thinking === 0 ? t('Waiting for first token…') : t('Thinking…');
}

function retryWords({ number, of, why }: NonNullable<StreamView['retrying']>): string {
  switch (why) {
    case 'connection':
      return t('Connection lost, retrying ({0} of {1})…', number, of);
    case 'busy':
      return t('The server is busy, retrying ({0} of {1})…', number, of);
    case 'server':
      return t('The server failed, retrying ({0} of {1})…', number, of);
  }
}

const furtherWords = (left: number): string =>
  left === 1 ? t('1 more character so far') : t('{0} more characters so far', grouped(left));

export const notDrawn = (left: number): string =>
  left === 1
    ? t('1 more character is not shown here.')
    : t('{0} more characters are not shown here.', grouped(left));
