import { html, nothing, type TemplateResult } from 'lit';
import { t, grouped } from '../language';
import { icon, iconButton, linkButton } from '../ui';
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

/** The person of an imported session is called by its file, which does not fit beside a message. */
const besideMessage = (who: string): string => (who.startsWith('imported:') ? t('imported') : who);

export function message(
  who: string,
  body: unknown,
  kind: 'agent' | Seat,
  aside: unknown = nothing,
): TemplateResult {
  const pictures = { agent: 'hubot', developer: 'account', simulator: 'server-process' };
  return html`<article class="message from-${kind}">
    <h2 class="who" title=${kind === 'agent' ? nothing : who}>
      ${icon(pictures[kind])}<span>${besideMessage(who)}</span>
    </h2>
    <div class="said">${body}</div>
    ${aside}
  </article>`;
}

/** Beside a message: a dialogue of its own that has this message, and goes on otherwise. */
export const continueHere = (onPress: () => void): TemplateResult =>
  html`<div class="continue-here">
    ${iconButton({ icon: 'git-branch', label: t('Continue from here…'), onPress })}
  </div>`;

/** @param more drawn before and after the thoughts; `rendered`: safe HTML in place of the message */
export function agentMessage(
  of: Omit<MessageView, 'left'> & Pick<TurnView, 'turn'>,
  more: { readonly before?: unknown; readonly after?: unknown; readonly rendered?: string } = {},
  aside: unknown = nothing,
): TemplateResult {
  return message(
    of.final ? t('answer') : t('agent'),
    html`${said(of, more.rendered)} ${more.before ?? nothing}
    ${thoughtsOf(of.thoughts, t('Thoughts of the agent in turn {0}', of.turn))} ${more.after ?? nothing}`,
    'agent',
    aside,
  );
}

/** Folds a text that did not become the agent's message: a candidate or an earlier sample. */
export const passedOver = (
  of: MessageView,
  words: { readonly name: string; readonly thoughts: string },
  onRead?: () => void,
): TemplateResult =>
  html`<details class="thoughts">
    <summary>${withVisibleControls(words.name)}</summary>
    <div class="passed-over">
      ${said(of)} ${leftOut(of.left, onRead)} ${thoughtsOf(of.thoughts, words.thoughts)}
    </div>
  </details>`;

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
  took = '',
): TemplateResult {
  const others = choice.picked === 'neither' ? ([0, 1] as const) : ([choice.picked === 1 ? 0 : 1] as const);
  return html`<div class="choice">
    <p class="quiet">${icon('check')} ${withVisibleControls(choiceWords(choice, own, called))} ${took}</p>
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
function drawn(rendered: string): TemplateResult {
  return html`<div class="prose">${unsafeHTML(rendered)}</div>`;
}

/** With the page in a message, as it was written. @param rendered safe HTML in place of the text */
export function said(
  { visible, isCut, draft }: Pick<MessageView, 'visible' | 'isCut' | 'draft'>,
  rendered?: string,
): TemplateResult {
  const silent = isCut
    ? t(
        'The agent said nothing: it spent all its tokens on thoughts. Allow more tokens, or let the model think less.',
      )
    : t('The agent said nothing.');
  const empty = draft === undefined ? html`<p class="quiet">${silent}</p>` : nothing;
  return html`${visible === '' && rendered === undefined ? empty : drawn(rendered ?? renderMarkdown(visible))}
  ${draft === undefined ? nothing : sourceOf(draft)}`;
}

const sourceOf = ({ characters, source }: NonNullable<MessageView['draft']>): TemplateResult =>
  html`<details class="thoughts">
    <summary>${t('HTML of the page, {0} characters', grouped(characters))}</summary>
    <pre tabindex="0"><code>${withVisibleControls(source)}</code></pre>
    ${characters > source.length ? notDrawn(characters - source.length) : nothing}
  </details>`;

export function thoughtsOf(thoughts: string, label: string): TemplateResult | typeof nothing {
  if (thoughts === '') return nothing;
  return html`<details class="thoughts">
    <summary aria-label=${label}>${t('thoughts')}</summary>
    <p class="plain">${withVisibleControls(thoughts)}</p>
  </details>`;
}

export function streamed(stream: StreamView): TemplateResult {
  const { by, text, thinking, thoughts = '', retrying, ended, left = 0 } = stream;
  const isLive = retrying === undefined && ended === undefined;
  const wait = thinking === 0 ? t('Waiting for first token…') : t('Thinking…');
  const further = left === 1 ? t('1 more character so far') : t('{0} more characters so far', grouped(left));
  return html`${isLive && text === '' ? html`<p class="quiet">${wait}<span class="caret"></span></p>` : nothing}
  ${
    text === '' && thoughts !== ''
      ? html`<p class="plain quiet thinking">${withVisibleControls(thoughts)}</p>`
      : nothing
  }
  ${
    text === ''
      ? nothing
      : html`<div class=${isLive ? 'streaming' : 'unfinished'}>
          ${by === 'agent' ? prose(text) : html`<p class="plain">${withVisibleControls(text)}</p>`}
        </div>`
  }
  ${left === 0 ? nothing : html`<p class="quiet">${ended === undefined ? further : notDrawn(left)}</p>`}
  ${retrying === undefined ? nothing : html`<p class="quiet">${icon('sync')} ${retryWords(retrying)}</p>`}
  ${
    ended === undefined
      ? nothing
      : html`<p class="quiet" role="status">${icon('circle-slash')} ${endedWords[ended]}</p>`
  }`;
}

const endedWords = {
  stopped: t('Stopped. This partial message is not in the log.'),
  failed: t('Interrupted. This partial message is not in the log.'),
};

const retryWords = ({ number, of, why }: NonNullable<StreamView['retrying']>): string =>
  ({
    connection: t('Connection lost, retrying ({0} of {1})…', number, of),
    busy: t('The server is busy, retrying ({0} of {1})…', number, of),
    server: t('The server failed, retrying ({0} of {1})…', number, of),
  })[why];

const notDrawn = (left: number): string =>
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
