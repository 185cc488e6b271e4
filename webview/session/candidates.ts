import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { button, icon } from '../ui';
import './candidates.css';
import { PlainElement } from '../dialogue/element';
import { host } from './host';
import { keys } from './keys';
import { leaving } from './leaving';
import type { CandidatesView, MessageView, Picked, SessionState } from './protocol';
import { LETTERS } from '../dialogue/names';
import { said, thoughtsOf } from '../dialogue/said';
import { leftOut } from '../dialogue/turn';

/** Maximum time between the two clicks of a double click. */
const DOUBLE_CLICK_MS = 300;

const choose = (picked: Picked): void => host.send({ type: 'choose', picked });

/** Shows two messages, of which the developer chooses one. Their agents are hidden, and neither message stands out. */
@customElement('tandem-candidates')
export class CandidatesElement extends PlainElement {
  @property({ attribute: false }) view!: CandidatesView;
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
      ${this.view.map(
        (candidate, place) =>
          html`<article
            class="candidate"
            aria-label=${t('Candidate {0}', LETTERS[place]!)}
            title=${t('Goes on with {0}', LETTERS[place]!)}
            @click=${(event: MouseEvent) => this.chooseBy(event, place as 0 | 1)}
          >
            <h2 class="who">${icon('hubot')}<span>${LETTERS[place]}</span></h2>
            <div class="said">${written(candidate, LETTERS[place]!)}</div>
          </article>`,
      )}
    </section>`;
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
      if (isMeant(event)) choose(place);
    }, DOUBLE_CLICK_MS);
  }
}

/** Excludes clicks on parts with a use of their own (code to copy, links, thoughts) and clicks that end a selection. */
function isMeant({ target }: MouseEvent): boolean {
  const isOfPart =
    (target as Element).closest('a, button, summary, details, [role="link"], vscode-button') !== null;
  return !isOfPart && document.getSelection()?.isCollapsed !== false;
}

function written({ visible, thoughts, left, final }: MessageView, name: string): TemplateResult {
  return html`${final ? html`<p class="quiet">${icon('flag')} ${t('its answer: the dialogue ends with it')}</p>` : nothing}
  ${said(visible)} ${leftOut(left, () => host.act('open-transcript'))}
  ${thoughtsOf(thoughts, t('Thoughts of candidate {0}', name))}`;
}

/** Draws the buttons to choose. None of them is primary, because that would be a recommendation. */
export function choosing(state: SessionState): TemplateResult {
  return html`<p id="question">
      ${t('Which message is better? At the end you learn which model wrote which.')}
    </p>
    <div class="actions choosing" role="group" aria-labelledby="question">
      ${button({ label: 'A', key: keys.chooseA, title: t('Continues with {0}', 'A'), onPress: () => choose(0) })}
      ${button({ label: 'B', key: keys.chooseB, title: t('Continues with {0}', 'B'), onPress: () => choose(1) })}
      ${button({
        label: t('Equal'),
        key: keys.equal,
        title: t('Equally good; the dialogue continues with A'),
        onPress: () => choose('equal'),
      })}
      ${button({
        label: t('Neither'),
        key: keys.neither,
        title: t('Neither is good; two new ones are written'),
        onPress: () => choose('neither'),
      })}
      <span class="rest">${leaving(state)}</span>
    </div>`;
}
