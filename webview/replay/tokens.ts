import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { furthest, shade, signed, tokensOf, type Token } from './figures';
import type { TurnCredit } from './protocol';

const MAX_ROWS = 20;

/**
 * The darker a token, the more its likelihood under the critic differs from that under the base model. A less likely
 * token is underlined too, so that colour is not the only sign. @param scale absolute log-ratio of the darkest shade
 */
export function shadedTokens({ turn, tokens }: TurnCredit, scale: number): TemplateResult | typeof nothing {
  if (tokens === undefined) return nothing;
  const all = tokensOf(tokens);
  return html`<div class="tokens">
    <p class="shaded" role="group" aria-label=${t('Tokens of turn {0}', turn)}>
      ${all.map((token) => shaded(token, scale))}
    </p>
    ${table(turn, all)}
  </div>`;
}

function shaded({ text, ratio }: Token, scale: number): TemplateResult | typeof nothing {
  if (text === '') return nothing;
  const level = shade(ratio, scale);
  const look = level === 0 ? [] : [ratio < 0 ? 'hurts' : 'helps', `shade-${level}`];
  return html`<span class=${look.join(' ')} title=${signed(ratio)}>${withVisibleControls(text)}</span>`;
}

function table(turn: number, all: readonly Token[]): TemplateResult | typeof nothing {
  const rows = furthest(all, MAX_ROWS);
  if (rows.length === 0) return nothing;
  const caption =
    rows.length === all.length
      ? t('Log-ratios of all tokens')
      : t('Log-ratios of the {0} tokens furthest from 0, of {1}', rows.length, all.length);
  return html`<details class="thoughts">
    <summary aria-label=${t('Show values of the tokens of turn {0}', turn)}>${t('Show values')}</summary>
    <table class="token-figures">
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col" class="count">${t('Position')}</th>
          <th scope="col">${t('Token')}</th>
          <th scope="col" class="count">${t('Nats')}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ({ number, text, ratio }) =>
            html`<tr>
              <td class="count">${number}</td>
              <td><code>${visible(text)}</code></td>
              <td class="count">${signed(ratio)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

const visible = (text: string): string =>
  text === ''
    ? '∅'
    : withVisibleControls(text).replaceAll('\n', '⏎').replaceAll('\t', '⇥').replaceAll(' ', '␣');
