import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { icon, iconButton, linkButton, toggleLink } from '../ui';
import { fill, place, signed, furthest, shade, tokensOf, type Token } from './figures';
import { editorApi } from '../editorApi';
import type { Credits, CriticView, FromWebview, PanelState, TurnCredit } from './protocol';

const api = editorApi<FromWebview, PanelState>();

export function creditMargin(credit: TurnCredit, critic: CriticView, episode: string): TemplateResult {
  const { turn, advantage, untrained } = credit;
  const { scale, unit } = critic;
  const bar = fill(advantage, scale);
  return html`<div class="credit">
    <div class="figure" role="img" title=${words(credit, critic)} aria-label=${words(credit, critic)}>
      <div class="track">
        <div
          class="fill ${advantage < 0 ? 'hurts' : 'helps'}"
          .style=${`left:${bar.left}%;width:${bar.width}%`}
        ></div>
        ${
          untrained === null
            ? nothing
            : html`<div class="untrained" .style=${`left:${place(untrained, scale)}%`}></div>`
        }
      </div>
      <span class="number" data-unit=${unit}>${signed(advantage, scale)}</span>
    </div>
    ${verdict(turn, credit.agrees, episode)}
  </div>`;
}

function words({ advantage, untrained }: TurnCredit, { scale, unit }: CriticView): string {
  const value = signed(advantage, scale);
  const said =
    advantage > 0
      ? t('Helped: {0} {1}', value, unit)
      : advantage < 0
        ? t('Hurt: {0} {1}', value, unit)
        : t('Neither helped nor hurt: {0} {1}', value, unit);
  return untrained === null ? said : t('{0}; untrained {1}', said, signed(untrained, scale));
}

function verdict(turn: number, agrees: boolean | undefined, episode: string): TemplateResult {
  const choose = (which: boolean) => (): void =>
    api.postMessage({ type: 'judge', episode, turn, agrees: agrees === which ? null : which });
  return html`<div
    class="verdict ${agrees === undefined ? '' : 'given'}"
    role="group"
    aria-label=${t('Your verdict on the credit of turn {0}', turn)}
  >
    ${iconButton({
      icon: 'check',
      label: t('Agree with the critic'),
      isPressed: agrees === true,
      onPress: choose(true),
    })}
    ${iconButton({
      icon: 'close',
      label: t('Disagree with the critic'),
      isPressed: agrees === false,
      onPress: choose(false),
    })}
  </div>`;
}

export function otherVerdicts({ others }: TurnCredit): TemplateResult[] {
  return others.map(
    (sentence) => html`<p class="remark quiet">${icon('law')} ${withVisibleControls(sentence)}</p>`,
  );
}

const choose = (label: string): TemplateResult =>
  linkButton(
    label,
    () => api.postMessage({ type: 'choose-critic' }),
    t('Choose the critic whose credit is shown'),
  );

export const criticLink = (credits: Credits | undefined): TemplateResult | typeof nothing =>
  credits === undefined || credits.critic !== undefined ? nothing : choose(t('see the credit of each turn…'));

export function criticLine(
  credits: Credits | undefined,
  shades: boolean,
  onShade: () => void,
): TemplateResult | typeof nothing {
  if (credits?.critic === undefined) return nothing;
  const { critic, problem, canScore, restriction } = credits;
  const { name, folder, agreement, isCritic } = critic;
  const title = withVisibleControls(name);
  const isScored = credits.credits.some((turns) => turns !== null);
  const hasTokens = credits.credits.some((turns) => turns?.some(({ tokens }) => tokens !== undefined));
  return html`<p class="knows critic">
      <span title=${folder}
        >${icon('law')} ${isCritic ? t('critic: {0}', title) : t('credit: {0}', title)}</span
      >
      ${agreement.map((sentence) => html`<span class="quiet" title=${AGREEMENT}>${sentence}</span>`)}
      ${choose(t('change…'))}
      ${
        canScore && restriction === undefined
          ? linkButton(
              t('score with it'),
              () => api.postMessage({ type: 'score' }),
              isCritic
                ? t('Have the critic read the dialogue; it takes a moment')
                : t('Have the model play from each turn; it takes a while'),
            )
          : nothing
      }
      ${hasTokens ? toggleLink(t('shade tokens'), shades, onShade) : nothing}
    </p>
    ${isScored ? legend(critic, hasTokens && shades) : nothing}
    ${problem === undefined ? nothing : warning(problem)}
    ${canScore && restriction !== undefined ? warning(restriction, manageTrust()) : nothing}`;
}

const AGREEMENT = t('Give a verdict beside each bar; in brackets: the rate and its 95 % interval');

const legend = (critic: CriticView, shades: boolean): TemplateResult =>
  html`<p class="knows quiet legend">
    <span>${scaleWords(critic)}</span>
    ${
      critic.isCritic
        ? html`<span
            ><span class="untrained key" aria-hidden="true"></span>${t('thin mark: untrained baseline')}</span
          >`
        : nothing
    }
    ${
      shades
        ? html`<span class="helps" .style=${'--shade:2'}
              >${t('token more likely under the critic than under its base model')}</span
            >
            <span class="hurts" .style=${'--shade:2'}>${t('token less likely')}</span>`
        : nothing
    }
  </p>`;

const warning = (sentence: string, wayOut: TemplateResult | typeof nothing = nothing): TemplateResult =>
  html`<p class="knows critic problem"><span>${icon('warning')} ${sentence}</span> ${wayOut}</p>`;

const manageTrust = (): TemplateResult =>
  linkButton(t('Manage Workspace Trust'), () => api.postMessage({ type: 'manage-trust' }));

const scaleWords = ({ scale, unit, isCritic }: CriticView): string => {
  if (scale === 0)
    return isCritic
      ? t('the critic scores every turn as its base model does')
      : t('no turn changed what the model makes of the dialogue');
  return t('Bar scale ±{0} {1}; right = helped', signed(scale).slice(1), unit);
};

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
  const look = level === 0 ? '' : ratio < 0 ? 'hurts' : 'helps';
  return html`<span class=${look} .style=${`--shade:${level}`} title=${signed(ratio)}
    >${withVisibleControls(text)}</span
  >`;
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
