import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { icon, linkButton } from '../ui';
import { PlainElement } from './element';
import { host } from './host';
import { renderMarkdown } from './markdown';
import { turnComment, turnRating } from './turnRating';
import { withVisibleControls } from './untrusted';
import { modelLabel } from './view';
import type { ReplyView, Seat, StreamView, TurnView } from './protocol';

/** One message: who says it at the left, what is said in the middle, and perhaps something at the right. */
export function message(
  who: string,
  body: unknown,
  kind: 'agent' | Seat,
  aside: unknown = nothing,
): TemplateResult {
  const pictures = { agent: 'hubot', developer: 'account', simulator: 'server-process' };
  return html`<article class="message from-${kind}">
    <h2 class="who">${icon(pictures[kind])}<span>${who}</span></h2>
    <div class="said">${body}</div>
    ${aside}
  </article>`;
}

/** Markdown from the agent; `renderMarkdown` lets no HTML of its own through. */
export function prose(source: string): TemplateResult {
  return html`<div class="prose">${unsafeHTML(renderMarkdown(source))}</div>`;
}

/** A turn that is in the log. Drawn again only when the turn itself changes. */
@customElement('tandem-turn')
export class TurnElement extends PlainElement {
  @property({ attribute: false }) turn!: TurnView;
  /** There is somebody under whose pseudonym a rating is logged. */
  @property({ attribute: false }) canRate = false;
  @state() private isRemarking = false;

  override render(): TemplateResult {
    const { turn, visible, thoughts, left = 0, reply, final, samples } = this.turn;
    return html`${message(
      final ? 'answer' : 'agent',
      html`${visible === '' ? html`<p class="quiet">The agent said nothing.</p>` : prose(visible)}
      ${left === 0 ? nothing : leftOut(left)}
      ${
        samples === 1
          ? nothing
          : html`<p class="quiet">Sample ${samples} of this message; the log keeps them all.</p>`
      }
      ${
        thoughts === ''
          ? nothing
          : html`<details class="thoughts">
              <summary aria-label="Thoughts of the agent in turn ${turn}">thoughts</summary>
              <p class="plain">${withVisibleControls(thoughts)}</p>
            </details>`
      }
      ${turnComment(this.turn, this.isRemarking, () => void this.endRemark())}`,
      'agent',
      this.canRate ? turnRating(this.turn, () => void this.remark()) : nothing,
    )}${reply === undefined ? nothing : replyMessage(reply)}`;
  }

  private async remark(): Promise<void> {
    this.isRemarking = true;
    await this.updateComplete;
    this.querySelector<HTMLElement>('.turn-comment vscode-text-field')?.focus();
  }

  private async endRemark(): Promise<void> {
    this.isRemarking = false;
    await this.updateComplete;
    // With the line the focus would be gone, unless the person has moved it somewhere else.
    if (document.activeElement === document.body) {
      this.querySelector<HTMLElement>('.turn-rating button:last-child')?.focus();
    }
  }
}

/** What is too long to be drawn can be read in the editor, which is made for long texts. */
function leftOut(left: number): TemplateResult {
  return html`<p class="quiet">
    ${left.toLocaleString('en')} more characters are not drawn here.
    ${linkButton('Read them in the transcript', () => host.act('open-transcript'))}
  </p>`;
}

function replyMessage(reply: ReplyView): TemplateResult {
  return message(
    reply.seat === 'simulator' ? modelLabel(reply.by) : reply.by,
    html`<p class="plain">${withVisibleControls(reply.text)}</p>
      ${
        reply.suggested === undefined
          ? nothing
          : html`<p class="quiet">
              ${icon('lightbulb')} ${reply.suggested.isEdited ? 'edited from a draft' : 'sent as drafted'} by
              ${modelLabel(reply.suggested.by)}
            </p>`
      }
      ${
        reply.leakPercent === undefined
          ? nothing
          : html`<p class="leak" title="The share of the reference's code tokens that this reply contains">
              ${icon('warning')} gives away ${reply.leakPercent} % of the reference
            </p>`
      }`,
    reply.seat,
  );
}

/** A message that is being written. Not read aloud piece by piece: the finished turn is. */
@customElement('tandem-stream')
export class StreamElement extends PlainElement {
  @property({ attribute: false }) stream!: StreamView;
  @property({ attribute: false }) simulator = '';

  override render(): TemplateResult {
    const { by, text, thinking, left = 0 } = this.stream;
    const waiting = thinking === 0 ? 'waits for the first word' : `thinking, ${thinking} characters so far`;
    const body =
      text === ''
        ? html`<p class="quiet">${waiting}<span class="caret"></span></p>`
        : html`<div class="streaming">
              ${by === 'agent' ? prose(text) : html`<p class="plain">${withVisibleControls(text)}</p>`}
            </div>
            ${left === 0 ? nothing : html`<p class="quiet">${left.toLocaleString('en')} more characters so far</p>`}`;
    return by === 'agent'
      ? message('agent', body, 'agent')
      : message(modelLabel(this.simulator), body, 'simulator');
  }
}
