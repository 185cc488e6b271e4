import '../dialogue/dialogue.css';
import '../session/footer.css';
import './judging.css';
import '../pages/pages';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import { repeat } from 'lit/directives/repeat.js';
import { choosing } from '../dialogue/candidates';
import { PageElement, followPresses } from '../dialogue/element';
import { prose, stars, agentMessage, leftOut, message, passedOverCandidate } from '../dialogue/turn';
import { LETTERS, pickedWords, testsOf } from '../dialogue/names';
import { withVisibleControls } from '../dialogue/protocol';
import { editorApi, isNumber, isRecord, isText, part } from '../editorApi';
import { t } from '../language';
import { choices } from '../session/keys';
import type { Picked } from '../session/protocol';
import { button, icon, iconButton, linkButton, textField, help } from '../ui';
import { outcome } from './outcome';
import type {
  Action,
  FromWebview,
  JudgedPair,
  Outcome,
  PairView,
  PanelState,
  ReadTurn,
  ToWebview,
} from './protocol';

const api = editorApi<FromWebview, PanelState>();
const act = (action: Action): void => api.postMessage({ type: 'act', action });

type Thumbs = Readonly<Record<string, 'up' | 'down'>>;
const isThumbs = (value: unknown): value is Thumbs =>
  isRecord(value) && Object.values(value).every((thumb) => thumb === 'up' || thumb === 'down');

/** Judging is blind: until the end, nothing shows who wrote what or what others said. */
@customElement('tandem-judging')
export class JudgingElement extends PageElement<ToWebview> {
  @state() private shown: ToWebview | undefined;
  @state() private stars: number | undefined;
  @state() private thumbs: Thumbs = {};
  private comment = '';
  private shownAt = 0;
  /** The pair that was judged last, until the host shows what follows. */
  @state() private judged: PairView | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', (event) => {
      if (!this.pressed(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
    followPresses(this, (message) => api.postMessage(message));
  }

  protected override receive(shown: ToWebview): void {
    const before = this.shown;
    this.shown = shown;
    if (before?.episode !== shown.episode) this.recall(shown.episode);
    if (!isSame(before?.pair, shown.pair)) {
      this.judged = undefined;
      this.shownAt = performance.now();
    }
  }

  /** Restores ratings that were given before the window was reloaded. */
  private recall(episode: string): void {
    const kept = api.getState();
    const own = part(kept, 'episode', isText) === episode ? kept : undefined;
    this.stars = part(own, 'stars', isNumber);
    this.comment = part(own, 'comment', isText) ?? '';
    this.thumbs = part(own, 'thumbs', isThumbs) ?? {};
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { stars: given, comment, thumbs } = this;
    api.setState({ episode: this.shown.episode, stars: given, comment, thumbs });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const { task, turns, pair } = shown;
    return html`<header>
        <div class="line">
          <h1>${task.title}</h1>
          <ul class="facts">
            <li>${icon('law')} ${progress(shown)}</li>
          </ul>
        </div>
        ${
          shown.hasReference
            ? html`<p class="knows">
                ${linkButton(t('reference'), () => act('open-reference'), t('Open the hidden reference to the side'))}
                ${task.isPage === true ? nothing : linkButton(testsOf(task), () => act('open-tests'), t('Open the hidden tests to the side'))}
              </p>`
            : nothing
        }
      </header>
      <main tabindex="0" aria-label=${t('Dialogue')}>
        <div class="column">
          ${message(t('request'), prose(task.description), 'developer')}
          ${repeat(
            turns,
            ({ turn }) => turn,
            (turn) => this.turn(turn),
          )}
          ${
            pair === undefined
              ? nothing
              : html`${
                    shown.wanted === undefined
                      ? nothing
                      : html`<tandem-pages class="wanted-page" .wanted=${shown.wanted}></tandem-pages>`
                  }
                  <tandem-candidates
                    .view=${pair.candidates}
                    .choose=${(picked: Picked) => this.choose(picked)}
                    .titled=${(letter: string) => t('{0} is better', letter)}
                  ></tandem-candidates>`
          }
          ${shown.outcome === undefined ? nothing : outcome(shown.outcome)}
          ${help(
            t(
              'You judge without seeing who wrote what or what others said. Both are shown at the end, and your judgments count beside theirs.',
            ),
            'several-people',
          )}
        </div>
      </main>
      <footer>
        <div class="column">${this.footer(shown)}</div>
      </footer>`;
  }

  private turn(read: ReadTurn): TemplateResult {
    const { turn, left, judged, reply, draft, pins = NO_PINS } = read;
    return html`${agentMessage(
      read,
      {
        before: leftOut(left),
        after: judged.map(judgedPair),
      },
      this.shown?.outcome === undefined ? this.thumbButtons(turn) : thumbGiven(this.shown.outcome, turn),
    )}
    ${
      draft === undefined
        ? nothing
        : html`<tandem-pages .draft=${draft.page} .wanted=${this.shown?.wanted} .pins=${pins}></tandem-pages>`
    }
    ${
      reply === undefined
        ? nothing
        : message(t('collaborator'), html`<p class="plain">${withVisibleControls(reply)}</p>`, 'developer')
    }`;
  }

  private thumbButtons(turn: number): TemplateResult {
    const given = this.thumbs[turn];
    const thumb = (which: 'up' | 'down', label: string): TemplateResult =>
      iconButton({
        icon: `thumbs${which}${given === which ? '-filled' : ''}`,
        label,
        isPressed: given === which,
        onPress: () => {
          const { [turn]: _, ...others } = this.thumbs;
          this.thumbs = given === which ? others : { ...others, [turn]: which };
          this.keep();
        },
      });
    return html`<div class="turn-rating" role="group" aria-label=${t('Your rating of turn {0}', turn)}>
      ${thumb('up', t('Good message'))} ${thumb('down', t('Bad message'))}
    </div>`;
  }

  private footer({ pair, outcome: done }: ToWebview): TemplateResult {
    if (done !== undefined) {
      return html`<div class="actions">
        ${button({ label: t('Judge Next Dialogue'), kind: 'primary', id: 'primary', onPress: () => act('next') })}
        ${button({ label: t('Open Replay'), onPress: () => act('open-replay') })}
      </div>`;
    }
    if (pair !== undefined) {
      return choosing({
        question: t(
          'Which message is better? You cannot change this later, because the dialogue continues with it.',
        ),
        choose: (picked) => this.choose(picked),
        one: (letter) => t('{0} is better', letter),
        equal: t('Both are equally good'),
        neither: t('Neither is good'),
      });
    }
    return html`<div class="rating">
        ${stars(this.stars, (given) => this.rate(given))}
        ${textField({
          id: 'comment',
          label: t('Comment (optional)'),
          isLabelHidden: true,
          value: this.comment,
          onInput: (text) => {
            this.comment = text;
            this.keep();
          },
        })}
      </div>
      <div class="actions">
        ${button({
          label: t('Finish'),
          kind: 'primary',
          id: 'primary',
          disabled: this.stars === undefined,
          title:
            this.stars === undefined
              ? t('Give stars first')
              : t('Log your ratings, then see what others said'),
          onPress: () => this.finish(),
        })}
        <span class="quiet">${t('Then you learn who wrote what, and your ratings stay as they are.')}</span>
      </div>`;
  }

  private choose(picked: Picked): void {
    const pair = this.shown?.pair;
    // A second press may come before what follows is shown.
    if (pair === undefined || isSame(this.judged, pair)) return;
    this.judged = pair;
    const milliseconds = Math.round(performance.now() - this.shownAt);
    api.postMessage({ type: 'choose', turn: pair.turn, pair: pair.pair, picked, milliseconds });
  }

  private rate(given: number): void {
    this.stars = given;
    this.keep();
  }

  private finish(): void {
    const comment = this.comment.trim();
    if (this.stars === undefined) return;
    api.postMessage({
      type: 'finish',
      stars: this.stars,
      ...(comment !== '' && { comment }),
      thumbs: Object.entries(this.thumbs).map(([turn, thumb]) => ({ turn: Number(turn), thumb })),
    });
  }

  /** @returns true when the page used the key */
  private pressed(event: KeyboardEvent): boolean {
    const { key, altKey, ctrlKey, metaKey, repeat: isHeld } = event;
    const isWriting = (event.composedPath()[0] as Element).matches('input:not([type="radio"]), textarea');
    if (this.shown === undefined || altKey || ctrlKey || metaKey || isHeld || isWriting) return false;
    if (this.shown.pair !== undefined) {
      const picked = choices[key];
      if (picked !== undefined) this.choose(picked);
      return picked !== undefined;
    }
    if (this.shown.outcome !== undefined || !/^[1-5]$/.test(key)) return false;
    this.rate(Number(key));
    return true;
  }

  override updated(changed: PropertyValues): void {
    if (!changed.has('shown')) return;
    const before = changed.get('shown') as ToWebview | undefined;
    const { shown } = this;
    if (shown === undefined || before === undefined) return;
    const main = this.querySelector('main')!;
    if (before.episode !== shown.episode) main.scrollTo(0, 0);
    else if (!isSame(before.pair, shown.pair) || before.outcome === undefined) void this.showNext();
  }

  private async showNext(): Promise<void> {
    await this.updateComplete;
    this.querySelector('.outcome, tandem-candidates, main .message:last-of-type')?.scrollIntoView({
      block: 'nearest',
    });
  }
}

/** The same one each time, so that nothing is drawn again. */
const NO_PINS: readonly never[] = [];

function judgedPair({ picked, wentOn, candidates }: JudgedPair): TemplateResult {
  const others = ([0, 1] as const).filter((place) => place !== wentOn);
  return html`<p class="remark quiet">${icon('check')} ${judgedWords(picked, wentOn)}</p>
    ${others.map((place) => passedOverCandidate(candidates[place], LETTERS[place]))}`;
}

function judgedWords(picked: Picked, wentOn: JudgedPair['wentOn']): string {
  return wentOn === null
    ? t('You said: {0}. Two others were drawn.', pickedWords(picked))
    : t('You said: {0}. The dialogue continued with {1}.', pickedWords(picked), LETTERS[wentOn]);
}

function thumbGiven({ thumbs }: Outcome, turn: number): TemplateResult | typeof nothing {
  const given = thumbs.find((one) => one.turn === turn)?.thumb;
  if (given === undefined) return nothing;
  const words = given === 'up' ? t('You gave a thumb up') : t('You gave a thumb down');
  return html`<span role="img" title=${words} aria-label=${words}>${icon(`thumbs${given}-filled`)}</span>`;
}

const isSame = (a: PairView | undefined, b: PairView | undefined): boolean =>
  a?.turn === b?.turn && a?.pair === b?.pair;

function progress({ pairs, judged, outcome: done }: ToWebview): string {
  if (done !== undefined) return t('judged');
  if (pairs === 0) return t('no candidates; rate its messages');
  return t('{0} of {1} choices judged', judged, pairs);
}
