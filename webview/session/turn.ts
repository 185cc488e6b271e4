import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { choiceMade } from '../dialogue/choice';
import { PlainElement } from '../dialogue/element';
import { modelLabel, playerLabel } from '../dialogue/names';
import { streamed } from '../dialogue/messageText';
import { agentMessage, leakMark, leftOut, message } from '../dialogue/turn';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { icon } from '../ui';
import { host } from './host';
import type { ModelNames, ReplyView, StreamView, TurnView } from './protocol';
import { turnComment, turnRating } from './turnRating';

const openTranscript = (): void => host.act('open-transcript');

/** Drawn again only when the turn or the names of models change. */
@customElement('tandem-turn')
export class TurnElement extends PlainElement {
  @property({ attribute: false }) turn!: TurnView;
  /** There is a pseudonym under which a rating is logged. */
  @property({ attribute: false }) canRate = false;
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
    const aside = this.canRate ? turnRating(this.turn, this.isLast, () => void this.remark()) : nothing;
    return html`${agentMessage(this.turn, { before, after }, aside)}${
      reply === undefined ? nothing : replyMessage(reply, this.called)
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

function replyMessage(reply: ReplyView, called: ModelNames): TemplateResult {
  return message(
    playerLabel(reply.by, reply.seat, called),
    html`<p class="plain">${withVisibleControls(reply.text)}</p>
      ${
        reply.suggested === undefined
          ? nothing
          : html`<p class="quiet">${icon('lightbulb')} ${draftedBy(reply.suggested, called)}</p>`
      }
      ${leakMark(reply)}`,
    reply.seat,
  );
}

function draftedBy({ by, isEdited }: NonNullable<ReplyView['suggested']>, called: ModelNames): string {
  const drafter = modelLabel(by, called);
  return isEdited ? t('edited from a draft by {0}', drafter) : t('sent as drafted by {0}', drafter);
}

/** Screen readers read the finished turn only. */
@customElement('tandem-stream')
export class StreamElement extends PlainElement {
  @property({ attribute: false }) stream!: StreamView;
  @property({ attribute: false }) simulator = '';

  override render(): TemplateResult {
    const { by } = this.stream;
    const body = streamed(this.stream);
    return by === 'agent' ? message(t('agent'), body, 'agent') : message(this.simulator, body, 'simulator');
  }
}
