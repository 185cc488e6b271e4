import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { icon, linkButton, toggleLink } from '../ui';
import { signed } from './figures';
import { host } from './host';
import type { Credits } from './protocol';

const choose = (label: string): TemplateResult =>
  linkButton(label, () => host.send({ type: 'choose-critic' }), t('Choose the critic whose credit is shown'));

export const criticLink = (credits: Credits | undefined): TemplateResult | typeof nothing =>
  credits === undefined || credits.critic !== undefined ? nothing : choose(t('see the credit of each turn…'));

export function criticLine(
  credits: Credits | undefined,
  shades: boolean,
  onShade: () => void,
): TemplateResult | typeof nothing {
  if (credits?.critic === undefined) return nothing;
  const { critic, problem, canScore, restriction } = credits;
  const { name, folder, unit, scale, agreement } = critic;
  const isScored = credits.credits.some((turns) => turns !== null);
  const hasTokens = credits.credits.some((turns) => turns?.some(({ tokens }) => tokens !== undefined));
  return html`<p class="knows critic">
      <span title=${folder}>${icon('law')} ${t('critic: {0}', withVisibleControls(name))}</span>
      ${agreement.map((sentence) => html`<span class="quiet" title=${AGREEMENT}>${sentence}</span>`)}
      ${choose(t('change…'))}
      ${
        canScore && restriction === undefined
          ? linkButton(
              t('score with it'),
              () => host.send({ type: 'score' }),
              t('Have the critic read the dialogue; it takes a moment'),
            )
          : nothing
      }
      ${hasTokens ? toggleLink(t('shade tokens'), shades, onShade) : nothing}
    </p>
    ${isScored ? legend(scale, unit, hasTokens && shades) : nothing}
    ${problem === undefined ? nothing : warning(problem)}
    ${canScore && restriction !== undefined ? warning(restriction, manageTrust()) : nothing}`;
}

const AGREEMENT = t('Give a verdict beside each bar; in brackets: the rate and its 95 % interval');

const legend = (scale: number, unit: string, shades: boolean): TemplateResult =>
  html`<p class="knows quiet legend">
    <span>${scaleWords(scale, unit)}</span>
    <span><span class="untrained key" aria-hidden="true"></span>${t('thin mark: untrained baseline')}</span>
    ${
      shades
        ? html`<span class="helps shade-2"
              >${t('token more likely under the critic than under its base model')}</span
            >
            <span class="hurts shade-2">${t('token less likely')}</span>`
        : nothing
    }
  </p>`;

const warning = (sentence: string, wayOut: TemplateResult | typeof nothing = nothing): TemplateResult =>
  html`<p class="knows critic problem"><span>${icon('warning')} ${sentence}</span> ${wayOut}</p>`;

const manageTrust = (): TemplateResult =>
  linkButton(t('Manage Workspace Trust'), () => host.send({ type: 'manage-trust' }));

const scaleWords = (scale: number, unit: string): string =>
  scale === 0
    ? t('the critic scores every turn as its base model does')
    : t('Bar scale ±{0} {1}; right = helped', signed(scale).slice(1), unit);
