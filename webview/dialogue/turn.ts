import { html, nothing, type TemplateResult } from 'lit';
import { t, grouped } from '../language';
import { icon, linkButton } from '../ui';
import './transcript.css';
import { withVisibleControls } from './protocol';
import type {
  MessageView,
  ReplyView,
  Seat,
  TurnView,
  ModelNames,
  ChoiceView,
  StreamView,
} from '../session/protocol';
import { candidateName, choiceWords } from './names';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { renderMarkdown } from './markdown';

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

/** @param more drawn before and after the thoughts; `rendered`: safe HTML in place of the message */
export function agentMessage(
  {
    turn,
    visible,
    thoughts,
    final,
    isCut,
    draft,
  }: Pick<TurnView, 'turn' | 'visible' | 'thoughts' | 'final' | 'isCut' | 'draft'>,
  more: { readonly before?: unknown; readonly after?: unknown; readonly rendered?: string } = {},
  aside: unknown = nothing,
): TemplateResult {
  return message(
    final ? t('answer') : t('agent'),
    html`${more.rendered === undefined ? said({ visible, isCut, draft }) : drawn(more.rendered)}
    ${sourceOf(draft)} ${more.before ?? nothing}
    ${thoughtsOf(thoughts, t('Thoughts of the agent in turn {0}', turn))} ${more.after ?? nothing}`,
    'agent',
    aside,
  );
}

/** Folds a text that did not become the agent's message: a candidate or an earlier sample. */
export function passedOver(
  { visible, isCut, thoughts, left, draft }: MessageView,
  words: { readonly name: string; readonly thoughts: string },
  onRead?: () => void,
): TemplateResult {
  return html`<details class="thoughts">
    <summary>${withVisibleControls(words.name)}</summary>
    <div class="passed-over">
      ${said({ visible, isCut, draft })} ${sourceOf(draft)} ${leftOut(left, onRead)}
      ${thoughtsOf(thoughts, words.thoughts)}
    </div>
  </details>`;
}

export const passedOverCandidate = (
  candidate: MessageView,
  name: string,
  onRead?: () => void,
): TemplateResult =>
  passedOver(
    candidate,
    { name: t('candidate {0}', name), thoughts: t('Thoughts of candidate {0}', name) },
    onRead,
  );

/** The transcript in the editor can show long texts. */
export function leftOut(left: number | undefined, onRead?: () => void): TemplateResult | typeof nothing {
  if (left === undefined) return nothing;
  return html`<p class="quiet">
    ${notDrawn(left)} ${onRead === undefined ? nothing : linkButton(t('Read them as Markdown'), onRead)}
  </p>`;
}

export function leakMark({ leakPercent }: ReplyView): TemplateResult | typeof nothing {
  if (leakPercent === undefined) return nothing;
  return html`<p class="leak" title=${t("The share of the reference's code tokens that this reply contains")}>
    ${icon('warning')} ${t('gives away {0} % of the reference', leakPercent)}
  </p>`;
}

/** @param own pseudonym of the person at this editor @param took duration, in a sentence */
export function choiceMade(
  choice: ChoiceView,
  own: string | undefined,
  called: ModelNames,
  onRead: () => void,
  took?: string,
): TemplateResult {
  const others = choice.picked === 'neither' ? ([0, 1] as const) : ([choice.picked === 1 ? 0 : 1] as const);
  return html`<div class="choice">
    <p class="quiet">
      ${icon('check')}
      ${withVisibleControls(choiceWords(choice, own, called))}${took === undefined ? nothing : ` ${took}`}
    </p>
    ${others.map((place) => passedOverCandidate(choice.candidates[place], candidateName(choice, place, called), onRead))}
  </div>`;
}

/** For stars that were given and cannot be changed. */
export const givenStars = (given: number, label: string): TemplateResult =>
  html`<span role="img" aria-label=${label}
    >${[1, 2, 3, 4, 5].map((star) => icon(star <= given ? 'star-full' : 'star-empty'))}</span
  >`;

/** `renderMarkdown` lets no HTML of the agent through. */
export const prose = (source: string): TemplateResult => drawn(renderMarkdown(source));

/** @param rendered safe HTML, as `renderMarkdown` returns it */
export function drawn(rendered: string): TemplateResult {
  return html`<div class="prose">${unsafeHTML(rendered)}</div>`;
}

export function said({
  visible,
  isCut,
  draft,
}: Pick<MessageView, 'visible' | 'isCut' | 'draft'>): TemplateResult | typeof nothing {
  if (visible !== '') return prose(visible);
  if (draft !== undefined) return nothing;
  const words = isCut
    ? t(
        'The agent said nothing: it spent all its tokens on thoughts. Allow more tokens, or let the model think less.',
      )
    : t('The agent said nothing.');
  return html`<p class="quiet">${words}</p>`;
}

/** The page in a message, as it was written. */
export function sourceOf(draft: MessageView['draft']): TemplateResult | typeof nothing {
  if (draft === undefined) return nothing;
  return html`<details class="thoughts">
    <summary>${t('HTML of the page, {0} characters', grouped(draft.characters))}</summary>
    <pre tabindex="0"><code>${withVisibleControls(draft.source)}</code></pre>
    ${draft.characters > draft.source.length ? notDrawn(draft.characters - draft.source.length) : nothing}
  </details>`;
}

export function thoughtsOf(thoughts: string, label: string): TemplateResult | typeof nothing {
  if (thoughts === '') return nothing;
  return html`<details class="thoughts">
    <summary aria-label=${label}>${t('thoughts')}</summary>
    <p class="plain">${withVisibleControls(thoughts)}</p>
  </details>`;
}

export function streamed({
  by,
  text,
  thinking,
  thoughts = '',
  retrying,
  ended,
  left = 0,
}: StreamView): TemplateResult {
  const isLive = retrying === undefined && ended === undefined;
  return html`${
    isLive && text === ''
      ? html`<p class="quiet">${waiting(thinking)}<span class="caret"></span></p>`
      : nothing
  }
  ${
    text === ''
      ? thoughts === ''
        ? nothing
        : html`<p class="plain quiet thinking">${withVisibleControls(thoughts)}</p>`
      : html`<div class=${isLive ? 'streaming' : 'unfinished'}>
          ${by === 'agent' ? prose(text) : html`<p class="plain">${withVisibleControls(text)}</p>`}
        </div>`
  }
  ${left === 0 ? nothing : html`<p class="quiet">${ended === undefined ? furtherWords(left) : notDrawn(left)}</p>`}
  ${retrying === undefined ? nothing : html`<p class="quiet">${icon('sync')} ${retryWords(retrying)}</p>`}
  ${
    ended === undefined
      ? nothing
      : html`<p class="quiet" role="status">${icon('circle-slash')} ${endedWords(ended)}</p>`
  }`;
}

const endedWords = (ended: NonNullable<StreamView['ended']>): string =>
  ended === 'stopped'
    ? t('Stopped. This partial message is not in the log.')
    : t('Interrupted. This partial message is not in the log.');

function waiting(thinking: number): string {
  return thinking === 0 ? t('Waiting for first token…') : t('Thinking…');
}

function retryWords({ number, of, why }: NonNullable<StreamView['retrying']>): string {
  switch (why) {
    case 'connection':
      return t('Connection lost, retrying ({0} of {1})…', number, of);
    case 'busy':
      return t('The server is busy, retrying ({0} of {1})…', number, of);
    case 'server':
      return t('The server failed, retrying ({0} of {1})…', number, of);
  }
}

const furtherWords = (left: number): string =>
  left === 1 ? t('1 more character so far') : t('{0} more characters so far', grouped(left));

export const notDrawn = (left: number): string =>
  left === 1
    ? t('1 more character is not shown here.')
    : t('{0} more characters are not shown here.', grouped(left));

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
