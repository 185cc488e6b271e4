import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon, iconButton, textField } from '../ui';
import { host } from './host';
import { keys } from './keys';
import type { TurnRatingChange, TurnView } from './protocol';

/** @param isLast shows the keys of the thumbs, which rate the last message only */
export function turnRating(
  { turn, rating = {} }: TurnView,
  isLast: boolean,
  onRemark: () => void,
): TemplateResult {
  const { thumb, comment } = rating;
  const thumbButton = (which: 'up' | 'down', label: string, key: string): TemplateResult =>
    iconButton({
      icon: `thumbs${which}${thumb === which ? '-filled' : ''}`,
      label,
      ...(isLast && { key }),
      isPressed: thumb === which,
      onPress: () => rate(turn, { thumb: thumb === which ? 'none' : which }),
    });
  const given = thumb !== undefined || comment !== undefined;
  return html`<div
    class="turn-rating ${given ? 'given' : ''}"
    role="group"
    aria-label=${t('Your rating of turn {0}', turn)}
  >
    ${thumbButton('up', t('Good message'), keys.goodMessage)}
    ${thumbButton('down', t('Bad message'), keys.badMessage)}
    ${iconButton({
      icon: comment === undefined ? 'comment' : 'comment-unresolved',
      label: comment === undefined ? t('Comment on this message') : t('Change the comment on this message'),
      onPress: onRemark,
    })}
    <span class="unseen">${thumb === undefined ? '' : ratedAs(thumb)}</span>
  </div>`;
}

const ratedAs = (thumb: 'up' | 'down'): string =>
  thumb === 'up' ? t('You rated it as good.') : t('You rated it as bad.');

export function turnComment(
  { turn, rating = {} }: TurnView,
  isOpen: boolean,
  onClose: () => void,
): TemplateResult | typeof nothing {
  const { comment = '' } = rating;
  if (!isOpen) {
    if (comment === '') return nothing;
    return html`<div class="turn-comment"><p>${icon('comment')} ${comment}</p></div>`;
  }
  return html`<div class="turn-comment" @focusout=${onClose}>
    ${textField({
      id: `turn-comment-${turn}`,
      label: t('Your comment on turn {0}', turn),
      isLabelHidden: true,
      value: comment,
      onCommit: (text) => rate(turn, { comment: text.trim() }),
    })}
  </div>`;
}

function rate(turn: number, change: TurnRatingChange): void {
  host.send({ type: 'rate-turn', turn, change });
}
