import { html, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon } from '../ui';
import './rating.css';

const STARS = [1, 2, 3, 4, 5] as const;

export function stars(given: number | undefined, onChoose: (stars: number) => void): TemplateResult {
  return html`<fieldset class="stars">
    <legend>${t('How was it?')}</legend>
    ${STARS.map((star) => {
      const isFull = given !== undefined && star <= given;
      return html`<label class=${isFull ? 'full' : ''} title=${t('{0}, key {1}', starWords(star), star)}>
        <input
          type="radio"
          name="stars"
          value=${star}
          aria-label=${starWords(star)}
          .checked=${star === given}
          @change=${() => onChoose(star)}
        />
        ${icon(isFull ? 'star-full' : 'star-empty')}
      </label>`;
    })}
  </fieldset>`;
}

export const starWords = (count: number): string => (count === 1 ? t('1 star') : t('{0} stars', count));
