import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { stars, starWords } from '../dialogue/stars';
import { textField } from '../ui';
import { PlainElement } from '../dialogue/element';
import { host } from './host';
import type { DialogueRating } from './protocol';

/** Each part is logged as soon as it is given. */
@customElement('tandem-rating')
export class RatingElement extends PlainElement {
  @property({ attribute: false }) rating!: DialogueRating;

  override render(): TemplateResult {
    const { stars: given, comment = '' } = this.rating;
    return html`<div
      class="rating"
      @keydown=${(event: KeyboardEvent) => {
        // Enter saves the comment, and the focus moves on to the next action.
        if (event.key === 'Enter') this.closest('footer')?.querySelector<HTMLElement>('#primary')?.focus();
      }}
    >
      ${stars(given, (star) => host.send({ type: 'rate', change: { stars: star } }))}
      ${textField({
        id: 'comment',
        label: t('One line about it'),
        isLabelHidden: true,
        value: comment,
        onCommit: (text) => host.send({ type: 'rate', change: { comment: text.trim() } }),
      })}
      <span class="quiet" role="status">${saved(this.rating)}</span>
    </div>`;
  }
}

/** Also for screen readers, because a key sets the stars from anywhere. */
function saved({ stars: given, comment }: DialogueRating): string {
  if (given === undefined && comment === undefined) return '';
  return given === undefined ? t('comment saved') : t('{0}, saved', starWords(given));
}
