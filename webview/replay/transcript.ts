import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { choiceMade } from '../dialogue/choice';
import { agentMessage, leakMark, leftOut, message, passedOver } from '../dialogue/turn';
import { modelLabel, playerLabel } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { icon, linkButton } from '../ui';
import { creditMargin, otherVerdicts } from './credit';
import { host } from './host';
import type { CriticView, Replay, ReplayedReply, ReplayedTurn, Shown, TurnCredit } from './protocol';
import { shadedTokens } from './tokens';

/** The chosen critic's credit for one dialogue. */
export interface ShownCredit {
  readonly critic: CriticView;
  readonly turns: readonly TurnCredit[];
  /** Absolute log-ratio of the darkest shade; undefined while tokens are not shaded. */
  readonly tokenScale: number | undefined;
}

/** The reader's own pseudonym, and the names given to models. */
export type Names = Pick<Shown, 'own' | 'called'>;

/** Draws the turns of a dialogue, each with its credit at the left. */
export function turns(replay: Replay, names: Names, credit: ShownCredit | undefined): TemplateResult {
  return html`${repeat(
    replay.turns,
    ({ turn }) => turn,
    (turn) => {
      const said = credit?.turns.find((one) => one.turn === turn.turn);
      return html`<div class="played" role="group" aria-label=${t('Turn {0}', turn.turn)}>
        <div class="margin">
          ${said === undefined ? nothing : creditMargin(said, credit!.critic, replay.episode)}
        </div>
        <div class="messages">
          ${agentMessage(turn, about(turn, replay, names, said, credit?.tokenScale))}
          ${turn.handOvers.map((to) => handOver(to, names))} ${reply(turn, names)}
        </div>
      </div>`;
    },
  )}`;
}

/** Draws what belongs to an agent's message: the choices and samples before it, its tokens, ratings and verdicts. */
function about(
  { left, choices = [], earlier, rating }: ReplayedTurn,
  replay: Replay,
  { own, called }: Names,
  credit: TurnCredit | undefined,
  tokenScale: number | undefined,
): { readonly before: unknown; readonly after: unknown } {
  const onRead = openTranscript(replay);
  const samples = earlier.map((sample, index) => {
    const place = [index + 1, earlier.length + 1] as const;
    const name = t('sample {0} of {1}', ...place);
    return passedOver(sample, { name, thoughts: t('Thoughts of sample {0} of {1}', ...place) });
  });
  return {
    before: leftOut(left, onRead),
    after: html`${credit === undefined || tokenScale === undefined ? nothing : shadedTokens(credit, tokenScale)}
    ${choices.map((choice) => choiceMade(choice, own, called, onRead, choice.took))} ${samples}
    ${rating === undefined ? nothing : remark(rating)}
    ${credit === undefined ? nothing : otherVerdicts(credit)}`,
  };
}

const openTranscript =
  ({ episode }: Replay) =>
  (): void =>
    host.act('open-transcript', episode);

function remark({ thumb, comment, by }: NonNullable<ReplayedTurn['rating']>): TemplateResult {
  const person = withVisibleControls(by);
  const verdict = {
    up: t('good message, by {0}', person),
    down: t('bad message, by {0}', person),
    none: t('remark, by {0}', person),
  }[thumb ?? 'none'];
  const look = { up: 'thumbsup-filled', down: 'thumbsdown-filled', none: 'comment' }[thumb ?? 'none'];
  return html`<p class="remark">
    ${icon(look)}
    <span class="quiet">${verdict}</span>
    ${comment === undefined ? nothing : t('“{0}”', withVisibleControls(comment))}
  </p>`;
}

function reply({ reply: said }: ReplayedTurn, { called }: Names): TemplateResult | typeof nothing {
  if (said === undefined) return nothing;
  return message(
    playerLabel(said.by, said.seat, called),
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
    ${folded(t('the suggestion'), suggestion)} ${folded(t('before truncation'), fullText)}`;
}

function handOver({ name, seat }: ReplayedTurn['handOvers'][number], { own, called }: Names): TemplateResult {
  const sentence =
    seat === 'developer' && name === own
      ? t('you reply from here on')
      : t('{0} replies from here on', playerLabel(name, seat, called));
  return html`<p class="hand-over quiet">${icon('arrow-swap')} ${sentence}</p>`;
}

/** Draws the end of a dialogue: its ending, its rating and its grades. */
export function foot(replay: Replay, { own, called }: Names): TemplateResult {
  const { refused, ending, damaged, rating, grades, hasAnswer, hasReference, episode } = replay;
  return html`<div class="foot">
    ${refused.map((choice) => choiceMade(choice, own, called, openTranscript(replay), choice.took))}
    <p class="ending">${withVisibleControls(ending)}</p>
    ${damaged === undefined ? nothing : html`<p class="ending">${icon('warning')} ${damaged}</p>`}
    ${rating === undefined ? nothing : ratingLine(rating)}
    ${grades.map((grade) => html`<tandem-grade .grade=${grade}></tandem-grade>`)}
    ${
      hasAnswer && hasReference
        ? html`<p class="ending">
            ${linkButton(t('Compare with the reference'), () => host.act('compare-with-reference', episode))}
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
        : html`<span role="img" aria-label=${t('{0} of 5 stars', stars)}
            >${[1, 2, 3, 4, 5].map((star) => icon(star <= stars ? 'star-full' : 'star-empty'))}</span
          >`
    }
    <span
      >${comment === undefined ? '' : `${t('“{0}”', comment)} `}<span class="quiet"
        >${t('rated by {0}', by)}</span
      ></span
    >
  </p>`;
}

/** Lists the outcome, the players and the date. */
export function facts(
  { agent, collaborator, seat, outcome, success, started }: Replay,
  { called }: Names,
): TemplateResult {
  const look = success === null ? 'circle-outline' : success ? 'pass' : 'error';
  const verdict = success === null ? '' : success ? 'passed' : 'failed';
  return html`<ul class="facts">
    <li class=${verdict}>${icon(look)} ${outcome}</li>
    <li title=${agent}>
      ${icon('hubot')} <span class="cut">${t('agent: {0}', modelLabel(agent, called))}</span>
    </li>
    <li title=${collaborator}>
      ${icon('account')} <span class="cut">${t('human: {0}', playerLabel(collaborator, seat, called))}</span>
    </li>
    <li>${icon('calendar')} ${started}</li>
  </ul>`;
}
