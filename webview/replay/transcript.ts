import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { agentMessage, leakMark, message } from '../dialogue/turn';
import { modelLabel } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/untrusted';
import { icon, linkButton } from '../ui';
import { host } from './host';
import type { Replay, ReplayedReply, ReplayedTurn } from './protocol';

/** The turns of a dialogue. At the left of each there is room for what a critic thinks of it. */
export function turns(replay: Replay): TemplateResult {
  return html`${repeat(
    replay.turns,
    ({ turn }) => turn,
    (turn) =>
      html`<div class="played" role="group" aria-label="Turn ${turn.turn}">
        <div class="margin"></div>
        <div class="messages">${agentMessage(turn)} ${turn.handOvers.map(handOver)} ${reply(turn)}</div>
      </div>`,
  )}`;
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
export function foot(replay: Replay): TemplateResult {
  const { ending, damaged, rating, grades, hasAnswer, episode } = replay;
  return html`<div class="foot">
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
