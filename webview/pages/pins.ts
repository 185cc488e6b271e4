import { html, nothing, type TemplateResult } from 'lit';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { iconButton } from '../ui';
import { pinned, type Pin } from './protocol';

/** Fraction of the width from which a mark is to the left of its place. */
const RIGHT_EDGE = 0.95;

/** The number of a pin on its page. */
export function pinMark(number: number, { x, y, words }: Pin): TemplateResult {
  return html`<span
    class="pin ${x > RIGHT_EDGE ? 'before' : ''}"
    title=${withVisibleControls(words)}
    .style=${`left:${x * 100}%;top:${y * 100}%`}
    >${number}</span
  >`;
}

/** @param onPins absent where pins are only shown */
export function pinList(
  pins: readonly Pin[],
  names: readonly [string, string],
  onPins: ((pins: readonly Pin[]) => void) | undefined,
): TemplateResult | typeof nothing {
  if (pins.length === 0) return nothing;
  return html`<ol class="pins" aria-label=${t('Pins')}>
    ${pins.map(
      (pin, index) =>
        html`<li>
          ${withVisibleControls(pin.words)}
          <span class="quiet">${names[pinned.indexOf(pin.of)]}</span>
          ${
            onPins === undefined
              ? nothing
              : iconButton({
                  icon: 'close',
                  label: t('Remove pin {0}', index + 1),
                  onPress: () => onPins(pins.toSpliced(index, 1)),
                })
          }
        </li>`,
    )}
  </ol>`;
}
