import '../dialogue/dialogue.css';
import './replay.css';
import './credit.css';
import '../dialogue/grade';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { PageElement, followPresses } from '../dialogue/element';
import { continueHere, prose, message } from '../dialogue/turn';
import { testsOf, type Names } from '../dialogue/names';
import { t } from '../language';
import { linkButton, help } from '../ui';
import { criticLine, criticLink } from './credit';
import { tokenScale } from './figures';
import { editorApi } from '../editorApi';
import { apart, type Apart, type Parting } from './parting';
import { act, fork, notes, reviewByKey, reviewTools } from './review';
import type { Action, Credits, Found, FromWebview, PanelState, Replay, Shown, ToWebview } from './protocol';
import { facts, foot, goToParting, result, turns, type Disclosure, type ShownCredit } from './transcript';

const api = editorApi<FromWebview, PanelState>();

@customElement('tandem-replay')
export class ReplayElement extends PageElement<ToWebview> {
  @state() private shown: Shown | undefined;
  /** Undefined when both dialogues say the same, and for a single one. */
  private apart: readonly [Apart, Apart] | undefined;
  @state() private credits: Credits | undefined;
  @state() private shades = false;
  @state() private isDetailed = false;

  override connectedCallback(): void {
    super.connectedCallback();
    followPresses(this, (message) => api.postMessage(message));
    document.addEventListener('keydown', (event) => {
      const [first, second] = this.shown?.replays ?? [];
      if (first === undefined || second !== undefined || !reviewByKey(event, first)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  protected override receive(message: ToWebview): void {
    if (message.type === 'credit') this.credits = message;
    else if (message.type === 'show') this.show(message);
    else void this.updateComplete.then(() => showPassage(this, message));
  }

  private show(shown: Shown): void {
    const before = this.shown;
    this.shown = shown;
    const [first, second] = shown.replays;
    this.apart = first && second && apart(first.turns, second.turns);
    if (first?.episode !== before?.replays[0]?.episode) {
      clearPassage();
      for (const part of [this, ...this.querySelectorAll('main')]) part.scrollTo(0, 0);
    }
    if (!isSame(this.credits, shown)) this.credits = undefined;
    api.setState({ episodes: shown.replays.map(({ episode }) => episode) });
  }

  override render(): TemplateResult {
    const [first, second] = this.shown?.replays ?? [];
    if (this.shown === undefined || first === undefined) return html``;
    const { task, wanted } = this.shown;
    const names: Names = this.shown;
    const details = { isOpen: this.isDetailed, onToggle: () => (this.isDetailed = !this.isDetailed) };
    this.classList.toggle('credited', this.credits?.credits.some((turns) => turns !== null) ?? false);
    return html`<header>
        <div class="line">
          <div class="titled">
            <h1>${(second === undefined ? first.label?.title : undefined) ?? task.title}</h1>
            ${second === undefined ? result(first) : nothing}
          </div>
          ${second === undefined ? reviewTools(first) : nothing}
        </div>
        ${
          second === undefined
            ? facts(first, names, details)
            : html`<p class="knows">
                ${pairLinks([first, second], task.isPage === true, this.apart?.[0].parting)}
              </p>`
        }
      </header>
      <main tabindex="0" aria-label=${second === undefined ? t('Dialogue') : t('Two dialogues')}>
        <div class="column request">
          <p class="knows">
            ${
              first.withoutReference === undefined
                ? hiddenLinks(task, first)
                : html`<span class="quiet">${first.withoutReference}</span>`
            }
            ${second === undefined ? single(first) : nothing} ${criticLink(this.credits)}
          </p>
          ${criticLine(this.credits, this.shades, () => (this.shades = !this.shades))}
          ${second === undefined ? notes(first) : nothing}
          ${message(
            t('request'),
            prose(task.description),
            'developer',
            first.withoutReference === undefined
              ? continueHere(() => fork(first.episode, 1, 'message'))
              : nothing,
          )}
        </div>
        ${
          second === undefined
            ? html`<div class="column">
                ${turns(first, names, { credit: this.credit(0), wanted })} ${foot(first, names)}
              </div>`
            : html`<div class="pair" .style=${`--rows: ${rowsOf(first, second)}`}>
                ${column(first, names, t('First dialogue'), details, { credit: this.credit(0), apart: this.apart?.[0], wanted })}
                ${column(second, names, t('Second dialogue'), details, { credit: this.credit(1), apart: this.apart?.[1], wanted })}
              </div>`
        }
        <div class="column">
          ${help(t('A replay shows a dialogue of the log turn by turn, or two of one task side by side, and what a critic says of each turn.'), 'trajectories')}
        </div>
      </main>`;
  }

  private credit(index: 0 | 1): ShownCredit | undefined {
    const { critic, credits = [] } = this.credits ?? {};
    const said = credits[index];
    if (critic === undefined || said == null) return undefined;
    return { critic, turns: said, tokenScale: this.shades ? tokenScale(credits) : undefined };
  }
}

const isSame = (credits: Credits | undefined, { replays }: Shown): boolean =>
  credits?.episodes.join() === replays.map(({ episode }) => episode).join();

function link(label: string, action: Action, { episode }: Replay, title?: string): TemplateResult {
  return linkButton(label, () => act(action, episode), title);
}

function hiddenLinks(task: Shown['task'], replay: Replay): TemplateResult {
  return html`${link(t('reference'), 'open-reference', replay, t('Open the hidden reference to the side'))}
  ${task.isPage === true ? nothing : link(testsOf(task), 'open-tests', replay, t('Open the hidden tests to the side'))}`;
}

function single(replay: Replay): TemplateResult {
  return html`${asMarkdown(replay)}
  ${
    replay.canContinue
      ? link(
          t('open to continue'),
          'open-session',
          replay,
          t('Open it to grade it, continue it, or play again'),
        )
      : nothing
  }
  ${link(t('compare with…'), 'compare-with', replay, t('Choose another dialogue of this task'))}`;
}

const asMarkdown = (replay: Replay): TemplateResult =>
  link(t('open as Markdown'), 'open-transcript', replay, t('Open the dialogue as Markdown'));

/** @param parting undefined when both dialogues say the same */
function pairLinks(
  [first, second]: readonly [Replay, Replay],
  isPage: boolean,
  parting: Parting | undefined,
): TemplateResult {
  return html`${
    first.hasAnswer && second.hasAnswer && !isPage
      ? link(t('compare the answers'), 'compare-answers', first, t('Open the two answers in the diff editor'))
      : ''
  }
  ${
    parting === undefined
      ? html`<span class="quiet">${t('both dialogues say the same')}</span>`
      : linkButton(partingWords(parting), goToParting, t('Go to where the dialogues begin to differ'))
  }`;
}

function column(
  replay: Replay,
  names: Names,
  label: string,
  details: Disclosure,
  more: Parameters<typeof turns>[2],
): TemplateResult {
  return html`<section aria-label=${label}>
    <div class="of">
      <p class="knows">
        <span class="which">${label}</span>
        ${result(replay)} ${replay.label?.title} ${asMarkdown(replay)}
      </p>
      ${facts(replay, names, details)} ${notes(replay)}
    </div>
    ${turns(replay, names, more)} ${foot(replay, names)}
  </section>`;
}

function partingWords({ turn, by, only }: Parting): string {
  if (only === 0) return t('first difference: turn {0}, which only the first has', turn);
  if (only === 1) return t('first difference: turn {0}, which only the second has', turn);
  return by === 'reply'
    ? t('first difference: turn {0}, the reply', turn)
    : t('first difference: turn {0}, the agent’s message', turn);
}

/** One row for the facts, one for each turn of the longer dialogue, one for the end. */
function rowsOf(first: Replay, second: Replay): number {
  return Math.max(first.turns.length, second.turns.length) + 2;
}

const NAME = 'found';

function clearPassage(): void {
  CSS.highlights.delete(NAME);
}

/** Goes to what a search has found, in whatever case. The words are marked in the drawn text, because its elements belong to Lit. */
function showPassage(page: HTMLElement, { turn, by, words }: Found): void {
  const places = [...page.querySelectorAll<HTMLElement>(placesOf(turn, by))];
  const ranges = places.flatMap((place) => rangesOf(place, words));
  CSS.highlights.set(NAME, new Highlight(...ranges));
  const found = ranges[0]?.startContainer.parentElement ?? places[0];
  for (let fold = found?.closest('details'); fold != null; fold = fold.parentElement?.closest('details'))
    fold.open = true;
  const group = found?.closest<HTMLElement>('.played, .note');
  if (found === undefined || group == null) return;
  group.tabIndex = -1;
  group.focus({ preventScroll: true });
  found.scrollIntoView({ block: 'center' });
}

function placesOf(turn: number, by: Found['by']): string {
  if (by === 'note') return '.note';
  const said = by === 'agent' ? '.from-agent' : ':not(.from-agent)';
  return `.played[data-turn="${turn}"] .message${said} .said`;
}

function rangesOf(place: HTMLElement, words: readonly string[]): Range[] {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const ranges: Range[] = [];
  while (walker.nextNode() !== null) {
    const node = walker.currentNode as Text;
    const text = node.data.toLowerCase();
    // `İ` becomes two characters, so that offsets after it would be wrong.
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
