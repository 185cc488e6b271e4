import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import {
  choiceMade,
  agentMessage,
  continueHere,
  leakMark,
  leftOut,
  message,
  streamed,
} from '../dialogue/turn';
import { PlainElement } from '../dialogue/element';
import { playerLabel, type Names } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/protocol';
import { t, grouped } from '../language';
import { icon, iconButton, textField } from '../ui';
import { host } from './host';
import type { ModelNames, ReplyView, StreamView, TurnView, TurnRatingChange } from './protocol';
import { keys } from './keys';

const openTranscript = (): void => host.act('open-transcript');

/** Drawn again only when the turn or the names of models change. */
@customElement('tandem-turn')
export class TurnElement extends PlainElement {
  @property({ attribute: false }) turn!: TurnView;
  /** There is a pseudonym under which a rating is logged. */
  @property({ attribute: false }) canRate = false;
  /** False for a developer's own function, whose file is in another state by now. */
  @property({ attribute: false }) canFork = false;
  @property() own: string | undefined;
  @property({ attribute: false }) called!: ModelNames;
  @property({ attribute: false }) isLast = false;
  @state() private isRemarking = false;

  override render(): TemplateResult {
    const { left, choices = [], reply, samples } = this.turn;
    const before = html`${leftOut(left, openTranscript)}
    ${
      samples === 1
        ? nothing
        : html`<p class="quiet">${t('Sample {0} of this message; the log keeps them all.', samples)}</p>`
    }`;
    const comment = turnComment(this.turn, this.isRemarking, () => void this.endRemark());
    const after = html`${choices.map((choice) => choiceMade(choice, this.own, this.called, openTranscript))}
    ${comment}`;
    const { turn, final } = this.turn;
    const aside = html`<div class="asides">
      ${this.canRate ? turnRating(this.turn, this.isLast, () => void this.remark()) : nothing}
      ${final || !this.canFork ? nothing : continueHere(() => host.send({ type: 'fork', turn, by: 'reply' }))}
    </div>`;
    const here = this.canFork
      ? continueHere(() => host.send({ type: 'fork', turn: turn + 1, by: 'message' }))
      : nothing;
    return html`${agentMessage(this.turn, { before, after }, aside)}${
      reply === undefined ? nothing : replyMessage(reply, this, here)
    }`;
  }

  private async remark(): Promise<void> {
    this.isRemarking = true;
    await this.updateComplete;
    this.querySelector<HTMLElement>('.turn-comment vscode-text-field')?.focus();
  }

  private async endRemark(): Promise<void> {
    this.isRemarking = false;
    await this.updateComplete;
    // The focus is lost with the removed line, unless the person has moved it somewhere else.
    if (document.activeElement === document.body) {
      this.querySelector<HTMLElement>('.turn-rating button:last-of-type')?.focus();
    }
  }
}

function replyMessage(reply: ReplyView, names: Names, aside: unknown): TemplateResult {
  return message(
    playerLabel(reply.by, reply.seat, names),
    html`<p class="plain">${withVisibleControls(reply.text)}</p>
      ${
        reply.suggested === undefined
          ? nothing
          : html`<p class="quiet">${icon('lightbulb')} ${draftedBy(reply.suggested, names)}</p>`
      }
      ${leakMark(reply)}`,
    reply.seat,
    aside,
  );
}

function draftedBy({ by, isEdited }: NonNullable<ReplyView['suggested']>, names: Names): string {
  const drafter = playerLabel(by, 'simulator', names);
  return isEdited ? t('edited from a draft by {0}', drafter) : t('sent as drafted by {0}', drafter);
}

/** Screen readers read the finished turn only. */
@customElement('tandem-stream')
export class StreamElement extends PlainElement {
  @property({ attribute: false }) stream!: StreamView;
  @property({ attribute: false }) simulator = '';

  override render(): TemplateResult {
    const { by } = this.stream;
    const { page, text } = this.stream;
    const body = html`${page !== undefined && text === '' ? nothing : streamed(this.stream)}
    ${page === undefined ? nothing : html`<p class="quiet">${t('Page so far: {0} characters', grouped(page))}</p>`}`;
    return by === 'agent' ? message(t('agent'), body, 'agent') : message(this.simulator, body, 'simulator');
  }
}

/** @param isLast shows the keys of the thumbs, which rate the last message only */
function turnRating({ turn, rating = {} }: TurnView, isLast: boolean, onRemark: () => void): TemplateResult {
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

function turnComment(
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
