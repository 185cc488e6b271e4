import { html, nothing, type TemplateResult } from 'lit';
import { t } from '../language';
import '../pages/pages';
import type { PageView, Pin } from '../pages/protocol';
import './pagesArea.css';
import { MAX_PINS } from './protocol';
import type { SessionView } from './view';

/** The newest page of the agent; undefined before there is one. */
const newestDraft = ({ turns }: Pick<SessionView, 'turns'>): PageView | undefined =>
  turns.findLast(({ draft }) => draft !== undefined)?.draft?.page;

/**
 * The newest draft beside the wanted page.
 * @param onPins absent where there is no reply to write
 */
export function pagesArea(
  view: SessionView,
  pins: readonly Pin[],
  onPins: ((pins: readonly Pin[]) => void) | undefined,
): TemplateResult | typeof nothing {
  const { wanted } = view.task;
  if (wanted === undefined) return nothing;
  const draft = newestDraft(view);
  const isFull = pins.length >= MAX_PINS;
  return html`<section class="pages-area" aria-label=${t('Draft and wanted page')}>
    <div class="column">
      <tandem-pages
        .draft=${draft}
        .wanted=${wanted}
        .pins=${pins}
        .onPins=${isFull ? undefined : onPins}
      ></tandem-pages>
    </div>
  </section>`;
}
