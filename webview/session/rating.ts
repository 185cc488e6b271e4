import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { icon, textField } from '../ui';
import { PlainElement } from '../dialogue/element';
import { host } from './host';
import type { DialogueRating } from './protocol';
import './rating.css';

const STARS = [1, 2, 3, 4, 5] as const;

/** Asks the developer to rate the whole dialogue: stars and one line. Each is logged as soon as it is given. */
@customElement('tandem-rating')
export class RatingElement extends PlainElement {
  @property({ attribute: false }) rating!: DialogueRating;

  override render(): TemplateResult {
    const { stars, comment = '' } = this.rating;
    return html`<div
      class="rating"
      @keydown=${(event: KeyboardEvent) => {
        // Enter saves the comment, and the focus moves on to the next action.
        if (event.key === 'Enter') this.closest('footer')?.querySelector<HTMLElement>('#primary')?.focus();
      }}
    >
      <fieldset class="stars">
        <legend>${t('How was it?')}</legend>
        ${STARS.map((star) => {
          const isFull = stars !== undefined && star <= stars;
          return html`<label class=${isFull ? 'full' : ''} title=${t('{0}, key {1}', starWords(star), star)}>
            <input
              type="radio"
              name="stars"
              value=${star}
              aria-label=${starWords(star)}
              .checked=${star === stars}
              @change=${() => host.send({ type: 'rate', change: { stars: star } })}
            />
            ${icon(isFull ? 'star-full' : 'star-empty')}
          </label>`;
        })}
      </fieldset>
      ${textField({
        id: 'comment',
        label: t('One line about it'),
        isLabelHidden: true,
        value: comment,
        onCommit: (text) => host.send({ type: 'rate', change: { comment: text.trim() } }),
      })}
      <span class="quiet saved" role="status">${saved(this.rating)}</span>
    </div>`;
  }
}

const starWords = (stars: number): string => (stars === 1 ? t('1 star') : t('{0} stars', stars));

/** Says what was saved, also to screen readers, because a key sets the stars from anywhere. */
function saved({ stars, comment }: DialogueRating): string {
  if (stars === undefined && comment === undefined) return '';
  return stars === undefined ? t('comment saved') : t('{0}, saved', starWords(stars));
}
