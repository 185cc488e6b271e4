import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import {
  choiceMade,
  agentMessage,
  continueHere,
  givenStars,
  leakMark,
  leftOut,
  message,
  passedOver,
} from '../dialogue/turn';
import { verdictIcons } from '../dialogue/grade';
import '../pages/pages';
import type { PageView } from '../pages/protocol';
import { modelLabel, pickedWords, playerLabel, type Names } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { icon, linkButton, namedValue } from '../ui';
import { creditMargin, otherVerdicts, shadedTokens } from './credit';
import { act, compare, fork, reviewFact } from './review';
import type { Apart, Parting } from './parting';
import type { CriticView, Replay, ReplayedChoice, ReplayedReply, ReplayedTurn, TurnCredit } from './protocol';

export interface ShownCredit {
  readonly critic: CriticView;
  readonly turns: readonly TurnCredit[];
  /** Absolute log-ratio of the darkest shade; undefined while tokens are not shaded. */
  readonly tokenScale: number | undefined;
}

interface MoreOfTurns {
  readonly credit?: ShownCredit | undefined;
  readonly apart?: Apart | undefined;
  readonly wanted?: PageView | undefined;
}

export function turns(replay: Replay, names: Names, { credit, apart, wanted }: MoreOfTurns): TemplateResult {
  return html`${repeat(
    replay.turns,
    ({ turn }) => turn,
    (turn, index) => {
      const said = credit?.turns.find((one) => one.turn === turn.turn);
      const marked = apart?.marked[index];
      const parts = (by: Parting['by']): TemplateResult | typeof nothing =>
        apart?.parting.turn === turn.turn && apart.parting.by === by ? parting(apart.parting) : nothing;
      return html`<div
        class="played"
        data-turn=${turn.turn}
        role="group"
        aria-label=${t('Turn {0}', turn.turn)}
      >
        <div>${said === undefined ? nothing : creditMargin(said, credit!.critic, replay.episode)}</div>
        <div>
          ${parts('message')}
          ${agentMessage(
            turn,
            {
              ...about(turn, replay, names, said, credit?.tokenScale),
              ...(marked?.message !== undefined && { rendered: marked.message }),
            },
            turn.final || replay.withoutReference !== undefined
              ? nothing
              : continueHere(() => fork(replay.episode, turn.turn, 'reply')),
          )}
          ${pages(turn, wanted)} ${turn.handOvers.map((to) => handOver(to, names))} ${parts('reply')}
          ${reply(turn, replay, names, marked?.reply)}
        </div>
      </div>`;
    },
  )}`;
}

/** With the pins of the reply to it. */
function pages(
  { draft, reply: said }: ReplayedTurn,
  wanted: PageView | undefined,
): TemplateResult | typeof nothing {
  if (draft === undefined) return nothing;
  return html`<tandem-pages
    .draft=${draft.page}
    .wanted=${wanted}
    .pins=${said?.pins ?? NO_PINS}
  ></tandem-pages>`;
}

/** The same one each time, so that nothing is drawn again. */
const NO_PINS: readonly never[] = [];

/** Takes the focus from the link that leads to it. */
const parting = ({ only }: Parting): TemplateResult =>
  html`<p class="parting" tabindex="-1">
    ${icon('git-branch')} <span>${t('The dialogues differ from here on')}</span>
    ${only === undefined ? linkButton(t('see the other one'), goToParting) : nothing}
  </p>`;

/** From that place in one dialogue, moves to the same place in the other. */
export function goToParting(): void {
  const places = [...document.querySelectorAll<HTMLElement>('.parting')];
  const place = places.find((one) => !one.contains(document.activeElement)) ?? places[0];
  place?.focus({ preventScroll: true });
  place?.scrollIntoView({ block: 'start' });
}

function about(
  { left, choices = [], earlier, ratings, gain, did = [] }: ReplayedTurn,
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
    before: html`${did.length === 0 ? nothing : didParts(did)} ${leftOut(left, onRead)}`,
    after: html`${credit === undefined || tokenScale === undefined ? nothing : shadedTokens(credit, tokenScale)}
    ${choices.map((choice) => choiceMade(choice, own, called, onRead, laterWords(choice)))} ${samples}
    ${gain === undefined ? nothing : html`<p class="remark quiet">${icon('graph')} ${gain}</p>`}
    ${ratings.map(remark)} ${credit === undefined ? nothing : otherVerdicts(credit)}`,
  };
}

const didParts = (did: NonNullable<ReplayedTurn['did']>): TemplateResult =>
  html`<details class="thoughts">
    <summary>${t('thoughts, tool calls and results: {0}', did.length)}</summary>
    ${did.map(
      ({ name, text }) =>
        html`<p><strong>${withVisibleControls(name)}</strong></p>
          <p class="plain">${withVisibleControls(text)}</p>`,
    )}
  </details>`;

const laterWords = ({ took, judgements }: ReplayedChoice): string =>
  [
    ...(took === undefined ? [] : [took]),
    ...judgements.map(({ by, picked }) =>
      t('Judged by {0}: {1}.', withVisibleControls(by), pickedWords(picked)),
    ),
  ].join(' ');

const openTranscript =
  ({ episode }: Replay) =>
  (): void =>
    act('open-transcript', episode);

function remark({ thumb, comment, by }: ReplayedTurn['ratings'][number]): TemplateResult {
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

/** @param marked safe HTML to draw in place of the text */
function reply(
  { reply: said, turn }: ReplayedTurn,
  { episode, withoutReference }: Replay,
  names: Names,
  marked: string | undefined,
): TemplateResult | typeof nothing {
  if (said === undefined) return nothing;
  const text = marked === undefined ? withVisibleControls(said.text) : unsafeHTML(marked);
  return message(
    playerLabel(said.by, said.seat, names),
    html`<p class="plain">${text}</p>
      ${leakMark(said)} ${origin(said)}`,
    said.seat,
    withoutReference === undefined ? continueHere(() => fork(episode, turn + 1, 'message')) : nothing,
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

function handOver({ name, seat }: ReplayedTurn['handOvers'][number], names: Names): TemplateResult {
  const sentence =
    seat === 'developer' && name === names.own
      ? t('you reply from here on')
      : t('{0} replies from here on', playerLabel(name, seat, names));
  return html`<p class="hand-over quiet">${icon('arrow-swap')} ${sentence}</p>`;
}

export function foot(replay: Replay, { own, called }: Names): TemplateResult {
  const { refused, ending, damaged, ratings, grades, hasAnswer, withoutReference, episode } = replay;
  const isPage = replay.turns.some(({ draft }) => draft !== undefined);
  return html`<div class="foot">
    ${refused.map((choice) => choiceMade(choice, own, called, openTranscript(replay), laterWords(choice)))}
    <p class="ending">${withVisibleControls(ending)}</p>
    ${damaged === undefined ? nothing : html`<p class="ending">${icon('warning')} ${damaged}</p>`}
    ${ratings.map(ratingLine)} ${grades.map((grade) => html`<tandem-grade .grade=${grade}></tandem-grade>`)}
    ${
      hasAnswer && withoutReference === undefined && !isPage
        ? html`<p class="ending">
            ${linkButton(t('Compare with the reference'), () => act('compare-with-reference', episode))}
          </p>`
        : nothing
    }
  </div>`;
}

function ratingLine({ stars, comment, by }: Replay['ratings'][number]): TemplateResult {
  return html`<p class="ending rating">
    ${stars === undefined ? nothing : givenStars(stars, t('{0} of 5 stars', stars))}
    <span
      >${comment === undefined ? '' : `${t('“{0}”', comment)} `}<span class="quiet"
        >${t('rated by {0}', by)}</span
      ></span
    >
  </p>`;
}

export function result({ outcome, verdict, grades }: Replay): TemplateResult {
  const look =
    verdict === undefined
      ? grades[0]?.page === undefined
        ? 'circle-outline'
        : 'browser'
      : verdictIcons[verdict];
  return html`<span class="result ${verdict ?? ''}">${icon(look)} ${outcome}</span>`;
}

export interface Disclosure {
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** Who played, and the marks that tell whether the dialogue is worth reading; the rest is behind *Details*. */
export function facts(replay: Replay, names: Names, { isOpen, onToggle }: Disclosure): TemplateResult {
  const { agent, turns: played, label } = replay;
  const people = players(replay, names).join(', ');
  const leaks = played.some(({ reply: said }) => said?.leakPercent !== undefined);
  return html`<ul class="facts">
      <li title=${agent}><span class="cut">${t('agent: {0}', modelLabel(agent, names.called))}</span></li>
      <li title=${people}><span class="cut">${t('collaborator: {0}', people)}</span></li>
      <li>${played.length === 1 ? t('1 turn') : t('{0} turns', played.length)}</li>
      ${leaks ? html`<li class="leak">${icon('warning')} ${t('leak')}</li>` : nothing} ${reviewFact(replay)}
      ${(replay.related ?? []).map(
        ({ words, episode }) =>
          html`<li>
            ${icon('git-branch')}
            ${linkButton(words, () => compare(replay.episode, episode), t('Show both dialogues side by side'))}
          </li>`,
      )}
      ${label === undefined || label.tags.length === 0 ? nothing : html`<li>${icon('tag')} ${label.tags.join(' · ')}</li>`}
      <li>
        <button type="button" class="link" aria-expanded=${isOpen} @click=${onToggle}>
          ${icon(isOpen ? 'chevron-down' : 'chevron-right')} ${t('Details')}
        </button>
      </li>
    </ul>
    ${isOpen ? details(replay) : nothing}`;
}

/** Whoever has replied, in that order; before a reply whoever has the seat. */
function players({ turns: played, collaborator, seat }: Replay, names: Names): string[] {
  const replied = played.flatMap(({ reply: said }) => said ?? []);
  const last = replied.length === 0 ? [{ by: collaborator, seat }] : replied;
  return [...new Set(last.map((one) => playerLabel(one.by, one.seat, names)))];
}

const details = ({ details: rows }: Replay): TemplateResult =>
  html`<dl class="disclosed">
    ${rows.map(([name, value]) => namedValue(name, withVisibleControls(value)))}
  </dl>`;
