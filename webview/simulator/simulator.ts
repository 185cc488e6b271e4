import { html, nothing, type TemplateResult } from 'lit';
import { customElement } from 'lit/decorators.js';
import '../ui/page.css';
import '../people/people.css';
import './simulator.css';
import { ViewElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { figureLines, inWords, numbersOf, reportTable } from '../report/table';
import { button, help, icon, inlineSelect, linkButton, progress } from '../ui';
import { csv } from '../ui/csv';
import { saveButtons } from '../ui/saving';
import type { Action, FromWebview, GapView, ToWebview } from './protocol';

const api = editorApi<FromWebview, unknown>();
const act = (action: Action): void => api.postMessage({ type: 'act', action });

@customElement('tandem-simulator')
export class SimulatorElement extends ViewElement<ToWebview> {
  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${t('People and Simulator')}>
      <h1>${t('People and Simulator')}</h1>
      <div class="controls">${pickers(shown)} ${work(shown)}</div>
      ${problem(shown)} ${shown.gap === undefined ? unknown(shown) : result(shown.gap)}
      ${help(t('The simulator replies wherever people replied in finished dialogues about functions: to the same history, and nothing of it is logged.'), 'several-people')}
    </main>`;
  }
}

function pickers({ simulators, simulator, people, person }: ToWebview): TemplateResult {
  const choose = (chosen: { readonly simulator?: string; readonly person?: string }): void =>
    api.postMessage({ type: 'choose', simulator, person, ...chosen });
  const named = people.map((value) => ({ value, label: withVisibleControls(value) }));
  return html`${inlineSelect(
    t('Simulator'),
    simulators.map(({ value, label }) => ({ value, label: withVisibleControls(label) })),
    simulator,
    (value) => choose({ simulator: value }),
  )}
  ${inlineSelect(t('People'), [{ value: '', label: t('everyone') }, ...named], person, (value) =>
    choose({ person: value }),
  )}`;
}

function work({ progress: words, gap, problem: wrong }: ToWebview): TemplateResult {
  if (words !== '')
    return html`<span role="status">${progress(words)}</span>
      ${button({ label: t('Cancel'), onPress: () => act('cancel') })}`;
  if (gap === undefined)
    return button({
      ...{ label: wrong === '' ? t('Compare') : t('Try again'), kind: 'primary', icon: 'organization' },
      onPress: () => act('compare'),
    });
  if (gap.isEmpty) return html`${nothing}`;
  return html`${linkButton(t('Write report…'), () => act('report'), t('A Markdown file to commit or send'))}
  ${saveButtons({ name: t('People and simulator'), csv: () => gapCsv(gap) })}`;
}

const problem = ({ problem: sentence }: ToWebview): TemplateResult | typeof nothing =>
  sentence === ''
    ? nothing
    : html`<p class="first failure" role="alert">${icon('error')} ${withVisibleControls(sentence)}</p>`;

const unknown = ({ progress: words, problem: sentence }: ToWebview): TemplateResult | typeof nothing =>
  words !== '' || sentence !== ''
    ? nothing
    : html`<p class="first quiet">
        ${t('Not compared yet. A model is asked for one reply for each of theirs.')}
      </p>`;

function result({ isEmpty, tables, findings, notes, failures }: GapView): TemplateResult {
  if (isEmpty)
    return html`<p class="first">
        ${t('No reply of a person in a finished dialogue about a function could be compared.')}
      </p>
      ${reasons(failures)}
      <p class="first">
        ${button({ label: t('Play a task'), kind: 'primary', icon: 'play', onPress: () => act('play') })}
      </p>`;
  return html`<ul class="findings" aria-label=${t('Findings')}>
      ${findings.map((finding) => html`<li>${icon('law')} <strong>${inWords(finding)}</strong></li>`)}
    </ul>
    ${tables.map(
      (table) =>
        html`<section>
          <h2>${inWords(table.name)}</h2>
          ${reportTable(table, { kind: 'people' })}
        </section>`,
    )}
    <p class="quiet note">${notes.map(inWords).join(' ')}</p>
    ${reasons(failures)}
    <section>
      <h2>${t('What the figures are')}</h2>
      <dl class="meanings">
        ${tables[0]!.columns.map(
          ({ title, note = '' }) =>
            html`<dt>${inWords(title)}</dt>
              <dd class="quiet">${inWords(note)}</dd>`,
        )}
      </dl>
    </section>`;
}

const reasons = (failures: readonly string[]): TemplateResult[] =>
  failures.map(
    (failure) => html`<p class="quiet note">${icon('warning')} ${withVisibleControls(failure)}</p>`,
  );

const SIDES = ['people', 'simulator'];

/** `of` counts dialogues, of success tasks. */
export const gapCsv = ({ tables: [sides, difference] }: GapView): string =>
  csv(
    ['replies_by', 'figure', 'value', 'low', 'high', 'of'],
    [
      ...figureLines(sides!, ({ name }, figure, _, place) => [
        ...[SIDES[place], name, ...numbersOf(figure), figure.of],
      ]),
      ...figureLines(difference!, ({ name }, figure) => [
        ...['difference', name, ...numbersOf(figure), figure.of],
      ]),
    ],
  );
