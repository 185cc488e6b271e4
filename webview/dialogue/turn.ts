import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import { icon, linkButton } from '../ui';
import './transcript.css';
import { drawn, notDrawn, said, sourceOf, thoughtsOf } from './messageText';
import { withVisibleControls } from './untrusted';
import type { MessageView, ReplyView, Seat, TurnView, ModelNames, ChoiceView } from '../session/protocol';
import { candidateName, choiceWords } from './names';

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
