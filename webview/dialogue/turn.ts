import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { icon } from '../ui';
import { PlainElement } from './element';
import { renderMarkdown } from './markdown';
import { modelLabel } from './names';
import type { ReplyView, Seat, StreamView, TurnView } from '../session/protocol';

/** One message: who says it at the left, what is said at the right. */
export function message(who: string, body: unknown, kind: 'agent' | Seat): TemplateResult {
  const pictures = { agent: 'hubot', developer: 'account', simulator: 'server-process' };
  return html`<article class="message from-${kind}">
    <h3 class="who">${icon(pictures[kind])}<span>${who}</span></h3>
    <div class="said">${body}</div>
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

  override render(): TemplateResult {
    const { reply } = this.turn;
    return html`${agentMessage(this.turn)}${reply === undefined ? nothing : replyMessage(reply)}`;
  }
}

/** What the agent said, its thoughts folded. */
export function agentMessage({ visible, thoughts, final }: TurnView): TemplateResult {
  return message(
    final ? 'answer' : 'agent',
    html`${visible === '' ? html`<p class="quiet">The agent said nothing.</p>` : prose(visible)}
    ${
      thoughts === ''
        ? nothing
        : html`<details class="thoughts">
            <summary>thoughts</summary>
            <p class="plain">${thoughts}</p>
          </details>`
    }`,
    'agent',
  );
}

/** A reply that gives away much of the reference says so. */
export function leakMark({ leakPercent }: ReplyView): TemplateResult | typeof nothing {
  if (leakPercent === undefined) return nothing;
  return html`<p class="leak" title="The share of the reference's code tokens that this reply contains">
    ${icon('warning')} gives away ${leakPercent} % of the reference
  </p>`;
}

function replyMessage(reply: ReplyView): TemplateResult {
  return message(
    reply.seat === 'simulator' ? modelLabel(reply.by) : reply.by,
    html`<p class="plain">${reply.text}</p>
      ${leakMark(reply)}`,
    reply.seat,
  );
}

/** A message that is being written. Not read aloud piece by piece: the finished turn is. */
@customElement('tandem-stream')
export class StreamElement extends PlainElement {
  @property({ attribute: false }) stream!: StreamView;
  @property({ attribute: false }) simulator = '';

  override render(): TemplateResult {
    const { by, text, thinking } = this.stream;
    const waiting = thinking === 0 ? 'waits for the first word' : `thinking, ${thinking} characters so far`;
    const body =
      text === ''
        ? html`<p class="quiet">${waiting}<span class="caret"></span></p>`
        : html`<div class="streaming">
            ${by === 'agent' ? prose(text) : html`<p class="plain">${text}</p>`}
          </div>`;
    return by === 'agent'
      ? message('agent', body, 'agent')
      : message(modelLabel(this.simulator), body, 'simulator');
  }
}
