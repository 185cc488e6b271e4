import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { icon, iconButton } from '../ui';
import { fill, place, signed } from './figures';
import { host } from './host';
import type { CriticView, TurnCredit } from './protocol';

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
    host.send({ type: 'judge', episode, turn, agrees: agrees === which ? null : which });
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
