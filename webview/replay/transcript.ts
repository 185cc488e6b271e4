import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { choiceMade } from '../dialogue/choice';
import { agentMessage, leakMark, leftOut, message, passedOver } from '../dialogue/turn';
import { modelLabel } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/untrusted';
import { icon, linkButton } from '../ui';
import { host } from './host';
import type { Replay, ReplayedReply, ReplayedTurn } from './protocol';

/**
 * The turns of a dialogue. At the left of each there is room for what a critic thinks of it.
 * @param own the pseudonym of the person at this editor
 */
export function turns(replay: Replay, own: string | undefined): TemplateResult {
  return html`${repeat(
    replay.turns,
    ({ turn }) => turn,
    (turn) =>
      html`<div class="played" role="group" aria-label="Turn ${turn.turn}">
        <div class="margin"></div>
        <div class="messages">
          ${agentMessage(turn, about(turn, replay, own))} ${turn.handOvers.map(handOver)} ${reply(turn)}
        </div>
      </div>`,
  )}`;
}

/** How the agent's message came about, and what a person thought of it. */
function about(
  { left, choices = [], earlier, rating }: ReplayedTurn,
  replay: Replay,
  own: string | undefined,
): { readonly before: unknown; readonly after: unknown } {
  const onRead = openTranscript(replay);
  const samples = earlier.map((sample, index) =>
    passedOver(sample, `sample ${index + 1} of ${earlier.length + 1}`),
  );
  return {
    before: leftOut(left, onRead),
    after: html`${choices.map((choice) => choiceMade(choice, own, onRead, choice.took))} ${samples}
    ${rating === undefined ? nothing : remark(rating)}`,
  };
}

const openTranscript =
  ({ episode }: Replay) =>
  (): void =>
    host.act('open-transcript', episode);

function remark({ thumb, comment, by }: NonNullable<ReplayedTurn['rating']>): TemplateResult {
  const verdict = { up: 'good message', down: 'bad message', none: 'remark' }[thumb ?? 'none'];
  const look = { up: 'thumbsup-filled', down: 'thumbsdown-filled', none: 'comment' }[thumb ?? 'none'];
  return html`<p class="remark">
    ${icon(look)}
    <span class="quiet">${verdict}, by ${withVisibleControls(by)}</span>
    ${comment === undefined ? nothing : `“${withVisibleControls(comment)}”`}
  </p>`;
}

function reply({ reply: said }: ReplayedTurn): TemplateResult | typeof nothing {
  if (said === undefined) return nothing;
  const who = said.seat === 'simulator' ? modelLabel(said.by) : said.by;
  return message(
    who,
    html`<p class="plain">${withVisibleControls(said.text)}</p>
      ${leakMark(said)} ${origin(said)}`,
    said.seat,
  );
}

function origin({ origin: words, suggestion, fullText }: ReplayedReply): TemplateResult {
  const folded = (name: string, text: string | undefined) =>
    text === undefined
      ? nothing
      : html`<details class="thoughts">
          <summary>${name}</summary>
          <p class="plain">${withVisibleControls(text)}</p>
        </details>`;
  return html`<p class="origin quiet">${words}</p>
    ${folded('the suggestion', suggestion)} ${folded('before the limit cut it', fullText)}`;
}

const handOver = (sentence: string): TemplateResult =>
  html`<p class="hand-over quiet">${icon('arrow-swap')} ${sentence}</p>`;

/** How it ended, what a person thought of it, and how the answer did. */
export function foot(replay: Replay, own: string | undefined): TemplateResult {
  const { refused, ending, damaged, rating, grades, hasAnswer, episode } = replay;
  return html`<div class="foot">
    ${refused.map((choice) => choiceMade(choice, own, openTranscript(replay), choice.took))}
    <p class="ending">${withVisibleControls(ending)}</p>
    ${damaged === undefined ? nothing : html`<p class="ending">${icon('warning')} ${damaged}</p>`}
    ${rating === undefined ? nothing : ratingLine(rating)}
    ${grades.map((grade) => html`<tandem-grade .grade=${grade}></tandem-grade>`)}
    ${
      hasAnswer
        ? html`<p class="ending">
            ${linkButton('Compare with the reference', () => host.act('compare-with-reference', episode))}
          </p>`
        : nothing
    }
  </div>`;
}

function ratingLine({ stars, comment, by }: NonNullable<Replay['rating']>): TemplateResult {
  return html`<p class="ending rating">
    ${
      stars === undefined
        ? nothing
        : html`<span role="img" aria-label="${stars} of 5 stars"
            >${[1, 2, 3, 4, 5].map((star) => icon(star <= stars ? 'star-full' : 'star-empty'))}</span
          >`
    }
    <span>${comment === undefined ? '' : `“${comment}” `}<span class="quiet">rated by ${by}</span></span>
  </p>`;
}

/** Who played, and what came of it. */
export function facts({ agent, collaborator, outcome, success, started }: Replay): TemplateResult {
  const look = success === null ? 'circle-outline' : success ? 'pass' : 'error';
  const verdict = success === null ? '' : success ? 'passed' : 'failed';
  return html`<ul class="facts">
    <li class=${verdict}>${icon(look)} ${outcome}</li>
    <li title=${agent}>${icon('hubot')} <span class="cut">agent: ${modelLabel(agent)}</span></li>
    <li title=${collaborator}>
      ${icon('account')} <span class="cut">human: ${modelLabel(collaborator)}</span>
    </li>
    <li>${icon('calendar')} ${started}</li>
  </ul>`;
}
