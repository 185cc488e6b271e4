import { html, nothing, type TemplateResult } from 'lit';
import { customElement } from 'lit/decorators.js';
import '../ui/page.css';
import './curves.css';
import { ViewElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { columnPicture } from '../report/pictures';
import { figureLines, inWords, numbersOf, reportTable } from '../report/table';
import { button, help, icon } from '../ui';
import { csv } from '../ui/csv';
import { saveButtons } from '../ui/saving';
import type { CurveView, FromWebview, ToWebview } from './protocol';

const api = editorApi<FromWebview, unknown>();

@customElement('tandem-curves')
export class CurvesElement extends ViewElement<ToWebview> {
  override connectedCallback(): void {
    super.connectedCallback();
    api.setState({});
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const { curves, problems } = shown;
    return html`<main tabindex="0" aria-label=${t('Learning curves')}>
      <h1>${t('Learning curves')}</h1>
      ${problems.map(
        (problem) =>
          html`<p class="failure" role="alert">${icon('error')} ${withVisibleControls(problem)}</p>`,
      )}
      ${curves.length === 0 && problems.length === 0 ? nothingYet : nothing} ${curves.map(curveSection)}
      ${help(t('tandem curve trains on parts of the dialogues of a log, and plays tasks that no run learned from with each model.'), 'training')}
    </main>`;
  }
}

const nothingYet = html`<p class="first">
  ${t('There is no learning curve of this log yet. In a terminal, tandem curve run.json makes one from the configuration of a run.')}
</p>`;

const moreDialogues = html`<div class="controls">
  ${button({ label: t('Play a task'), icon: 'play', onPress: () => api.postMessage({ type: 'play' }) })}
  ${button({
    label: t('Let the simulator play'),
    icon: 'run-all',
    title: t('The agent plays tasks with the simulator, several times each'),
    onPress: () => api.postMessage({ type: 'collect' }),
  })}
</div>`;

function curveSection(curve: CurveView, at: number): TemplateResult {
  const { title, findings, table, moreHelps } = curve;
  const [verdict, gain] = findings;
  return html`<section aria-labelledby=${`curve-${at}`}>
    <h2 id=${`curve-${at}`}>${withVisibleControls(title)}</h2>
    <p class="verdict">${icon('graph-line')} <strong>${inWords(verdict!)}</strong></p>
    <p class="quiet">${inWords(gain!)}</p>
    ${moreHelps ? moreDialogues : nothing}
    <figure>
      <figcaption>${t('Success on validation tasks by share of the training tasks')}</figcaption>
      ${columnPicture(table, table.columns.length - 1, 'line')}
    </figure>
    ${reportTable(table)}
    <div class="controls">${saveButtons({ name: title, csv: () => curveCsv(curve) })}</div>
  </section>`;
}

/** Success is a fraction, 0 to 1. */
export const curveCsv = ({ table }: CurveView): string =>
  csv(
    ['trained_on', 'figure', 'value', 'low', 'high'],
    figureLines(table, ({ name }, figure, row) => [inWords(row.name), name, ...numbersOf(figure)]),
  );
