import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { button, icon } from '../ui';
import './candidates.css';
import '../pages/pages';
import { keys } from '../session/keys';
import type { CandidatesView, MessageView, Picked } from '../session/protocol';
import { PlainElement } from './element';
import { LETTERS } from './names';
import { said, thoughtsOf, leftOut } from './turn';

const DOUBLE_CLICK_MS = 300;

/** The agents are hidden, and neither message stands out. */
@customElement('tandem-candidates')
export class CandidatesElement extends PlainElement {
  @property({ attribute: false }) view!: CandidatesView;
  @property({ attribute: false }) choose!: (picked: Picked) => void;
  @property({ attribute: false }) titled!: (letter: string) => string;
  /** Opens the transcript; absent where it would tell too much. */
  @property({ attribute: false }) onRead?: () => void;
  private clicked: number | undefined;

  override render(): TemplateResult {
    return html`<section
      id="candidates"
      class="candidates"
      tabindex="-1"
      aria-label=${t(
        "Two candidates for the agent's message. Press 1 for A, 2 for B, = when they are equal, 0 for neither.",
      )}
    >
      ${this.pages()}
      ${this.view.map(
        (candidate, place) =>
          html`<article
            class="candidate"
            aria-label=${t('Candidate {0}', LETTERS[place]!)}
            title=${this.titled(LETTERS[place]!)}
            @click=${(event: MouseEvent) => this.chooseBy(event, place as 0 | 1)}
          >
            <h2 class="who">${icon('hubot')}<span>${LETTERS[place]}</span></h2>
            <div class="said">${written(candidate, LETTERS[place]!, this.onRead)}</div>
          </article>`,
      )}
    </section>`;
  }

  private pages(): TemplateResult | typeof nothing {
    const [a, b] = this.view.map(({ draft }) => draft?.page);
    if (a === undefined && b === undefined) return nothing;
    return html`<tandem-pages class="of-both" .draft=${a} .wanted=${b} .names=${LETTERS}></tandem-pages>`;
  }

  override disconnectedCallback(): void {
    clearTimeout(this.clicked);
    super.disconnectedCallback();
  }

  /** Waits for a second click before it chooses, because a double click selects a word. */
  private chooseBy(event: MouseEvent, place: 0 | 1): void {
    clearTimeout(this.clicked);
    if (event.detail > 1 || !isMeant(event)) return;
    this.clicked = window.setTimeout(() => {
      if (isMeant(event)) this.choose(place);
    }, DOUBLE_CLICK_MS);
  }
}

/** Excludes clicks on code to copy, links and thoughts, and clicks that end a selection. */
function isMeant({ target }: MouseEvent): boolean {
  const isOfPart =
    (target as Element).closest('a, button, summary, details, [role="link"], vscode-button') !== null;
  return !isOfPart && document.getSelection()?.isCollapsed !== false;
}

function written(candidate: MessageView, name: string, onRead: (() => void) | undefined): TemplateResult {
  const { thoughts, left, final } = candidate;
  return html`${final ? html`<p class="quiet">${icon('flag')} ${t('its answer: the dialogue ends with it')}</p>` : nothing}
  ${said(candidate)} ${leftOut(left, onRead)} ${thoughtsOf(thoughts, t('Thoughts of candidate {0}', name))}`;
}

interface ChoosingOptions {
  readonly question: string;
  readonly choose: (picked: Picked) => void;
  readonly one: (letter: string) => string;
  readonly equal: string;
  readonly neither: string;
}

/** No button is primary, because that would be a recommendation. */
export function choosing(
  { question, choose, one, equal, neither }: ChoosingOptions,
  rest: unknown = nothing,
): TemplateResult {
  return html`<p id="question">${question}</p>
    <div class="actions choosing" role="group" aria-labelledby="question">
      ${button({ label: 'A', key: keys.chooseA, title: one('A'), onPress: () => choose(0) })}
      ${button({ label: 'B', key: keys.chooseB, title: one('B'), onPress: () => choose(1) })}
      ${button({ label: t('Equal'), key: keys.equal, title: equal, onPress: () => choose('equal') })}
      ${button({ label: t('Neither'), key: keys.neither, title: neither, onPress: () => choose('neither') })}
      ${rest}
    </div>`;
}
