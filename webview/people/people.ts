import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './people.css';
import { ViewElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { editorApi, isOneOf, part } from '../editorApi';
import { t, grouped } from '../language';
import { csv } from '../ui/csv';
import type { Row, Table, Words } from '../report/protocol';
import { reportTable, detailsOf, figureIn, inWords, numberIn, figureLines, numbersOf } from '../report/table';
import { saveButtons } from '../ui/saving';
import { icon, linkButton, help, inlineSelect } from '../ui';
import {
  judgements,
  type DisagreementView,
  type FromWebview,
  type Judgement,
  type OpinionView,
  type PanelState,
  type ToWebview,
} from './protocol';

const api = editorApi<FromWebview, PanelState>();

const names: Readonly<Record<Judgement, string>> = {
  stars: t('Stars'),
  thumbs: t('Thumbs'),
  choices: t('Choices'),
};

@customElement('tandem-people')
export class PeopleElement extends ViewElement<ToWebview> {
  @state() private kind = part(api.getState(), 'kind', isOneOf(judgements));

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) {
      return html`<main>
        <h1>${t('People and Agreement')}</h1>
        <p class="quiet" role="status">${t('Reading what people said…')}</p>
      </main>`;
    }
    return html`<main tabindex="0" aria-label=${t('People and Agreement')}>
      <h1>${t('People and Agreement')}</h1>
      <div class="controls">
        ${shown.filter === '' ? nothing : html`<span class="quiet">${t('only {0}', shown.filter)}</span>`}
        ${linkButton(t('Filter…'), () => api.postMessage({ type: 'filter' }), t('Filter the list of dialogues'))}
        ${linkButton(
          t('Compare with a simulator'),
          () => api.postMessage({ type: 'simulator' }),
          t('How far a simulator is from these people'),
        )}
        ${
          shown.people.rows.length === 0
            ? nothing
            : saveButtons({ name: t('People'), csv: () => peopleCsv(shown) })
        }
      </div>
      ${shown.people.rows.length === 0 ? nobody(shown) : [people(shown), agreement(shown), measuresOf(shown), this.disagreements(shown)]}
      ${help(t('People’s figures and agreement count the dialogues in the list.'), 'several-people')}
    </main>`;
  }

  private disagreements({ disagreements, left }: ToWebview): TemplateResult {
    const kinds = judgements.filter((kind) => disagreements.some((one) => one.kind === kind));
    const kind = kinds.find((one) => one === this.kind);
    const shown = disagreements.filter((one) => kind === undefined || one.kind === kind);
    return html`<section>
      <div class="heading-line">
        <h2>${t('Where they disagree')}</h2>
        ${
          kinds.length < 2
            ? nothing
            : inlineSelect(
                t('On'),
                [
                  { value: '', label: t('everything') },
                  ...kinds.map((one) => ({ value: one, label: names[one] })),
                ],
                kind ?? '',
                (value) => {
                  this.kind = judgements.find((one) => one === value);
                  api.setState(this.kind ? { kind: this.kind } : {});
                },
              )
        }
      </div>
      ${shown.length === 0 ? html`<p class="quiet">${t('Nowhere, where two people judged the same thing.')}</p>` : nothing}
      ${shown.map(disagreement)}
      ${left === 0 ? nothing : html`<p class="quiet">${t('{0} smaller differences not shown.', grouped(left))}</p>`}
    </section>`;
  }
}

function nobody({ filter }: ToWebview): TemplateResult {
  return html`<p class="first">
    ${
      filter === ''
        ? t('Figures appear here once a dialogue has been played or rated.')
        : t('No person has played or rated a dialogue that matches the filter.')
    }
  </p>`;
}

const people = ({ people: table, notes }: ToWebview): TemplateResult =>
  html`<section>
    <h2>${inWords(table.name)}</h2>
    ${reportTable(table, { kind: 'people' })}
    <p class="quiet note">${notes.map(inWords).join(' ')}</p>
  </section>`;

const agreement = ({ alpha }: ToWebview): TemplateResult =>
  html`<section>
    <h2>${inWords(alpha.name)}</h2>
    <p class="quiet">${t('Krippendorff’s alpha: 1 is full agreement, 0 is what chance would give.')}</p>
    <dl class="alphas">${alpha.rows.map((row) => alphaCard(row, alpha))}</dl>
  </section>`;

function alphaCard({ name, icon: mark, cells }: Row, { columns }: Table): TemplateResult {
  const [cell, ...lines] = cells;
  const figure = figureIn(cell);
  const column = columns[0]!;
  return html`<div class="alpha">
    <dt>${inWords(name)}</dt>
    <dd>
      <p>
        <strong>${figure === undefined ? '–' : numberIn(figure.value, column)}</strong>
        <span class="quiet">${figure === undefined ? nothing : detailsOf(figure, column)}</span>
      </p>
      ${lines.map((line, at) =>
        line === null
          ? nothing
          : html`<p>${at === 1 && mark !== undefined ? icon(mark) : nothing} ${inWords(line as Words)}</p>`,
      )}
    </dd>
  </div>`;
}

function measuresOf({ measures: found }: ToWebview): TemplateResult | typeof nothing {
  if (found === undefined) return nothing;
  if (typeof found === 'string') {
    return html`<section>
      <h2>${t('How far measures of web pages agree with choices')}</h2>
      <p>${found}</p>
    </section>`;
  }
  return html`<section>
    <h2>${inWords(found.table.name)}</h2>
    ${reportTable(found.table, { kind: 'people' })}
    <p class="quiet note">${inWords(found.note)}</p>
  </section>`;
}

function disagreement(of: DisagreementView): TemplateResult {
  const { kind, episode, title, turn, messages = [], said } = of;
  return html`<article class="disagreement">
    <header>
      <h3>
        ${withVisibleControls(title)}
        <span class="quiet">
          · ${turn === undefined ? names[kind] : t('{0}, turn {1}', names[kind], turn)}
        </span>
      </h3>
      ${linkButton(
        t('Open dialogue'),
        () => api.postMessage({ type: 'open', episode }),
        t('Read the dialogue “{0}”', title),
      )}
    </header>
    ${
      kind === 'choices'
        ? html`<div class="sides">
              ${messages.map((message, place) =>
                side(
                  place === 0 ? t('Shown first') : t('Shown second'),
                  message,
                  said.filter(({ value }) => value === place),
                ),
              )}
            </div>
            ${undecided(said)}`
        : html`${messages.map((message) => html`<pre>${withVisibleControls(message)}</pre>`)}
            <div class="sides">${said.map((opinion) => ofPerson(opinion))}</div>`
    }
  </article>`;
}

function side(name: string, message: string, chosenBy: readonly OpinionView[]): TemplateResult {
  return html`<div class="side">
    <p>
      ${name}${
        chosenBy.length === 0
          ? nothing
          : html`: ${icon('check')}
              <strong
                >${t('chosen by {0}', chosenBy.map(({ by }) => withVisibleControls(by)).join(', '))}</strong
              >`
      }
    </p>
    <pre>${withVisibleControls(message)}</pre>
  </div>`;
}

function undecided(said: readonly OpinionView[]): TemplateResult | typeof nothing {
  const lines = said.flatMap(({ by, value }) => {
    if (typeof value === 'number') return [];
    const name = withVisibleControls(by);
    return [value === 'equal' ? t('{0}: both are equal', name) : t('{0}: neither is good', name)];
  });
  return lines.length === 0 ? nothing : html`<p>${lines.join('. ')}</p>`;
}

function ofPerson({ by, value, comment }: OpinionView): TemplateResult {
  return html`<div class="side">
    <p><strong>${withVisibleControls(by)}</strong> ${valueOf(value)}</p>
    ${comment === undefined ? nothing : html`<p class="comment">${withVisibleControls(comment)}</p>`}
  </div>`;
}

function valueOf(value: number | string): TemplateResult {
  if (value === 'up') return html`${icon('thumbsup')} ${t('good')}`;
  if (value === 'down') return html`${icon('thumbsdown')} ${t('not good')}`;
  const given = Number(value);
  return html`<span aria-hidden="true">${'★'.repeat(given)}${'☆'.repeat(5 - given)}</span>
    <span class="quiet">${t('{0} of 5 stars', given)}</span>`;
}

/** The figures of each person; alpha and measures have an empty person. `of` counts what was judged. */
export const peopleCsv = ({ people: table, alpha, measures }: ToWebview): string =>
  csv(
    ['person', 'figure', 'value', 'low', 'high', 'of'],
    [
      ...figureLines(table, ({ name }, figure, row) => [
        inWords(row.name),
        name,
        ...numbersOf(figure),
        figure.of,
      ]),
      ...figureLines(alpha, ({ name }, figure, _, place) => [
        ...['', `${name}_${judgements[place]!}`, ...numbersOf(figure), figure.of],
      ]),
      ...(typeof measures === 'object'
        ? figureLines(measures.table, ({ name }, figure, row) => [
            ...['', `${name}_${inWords(row.name)}`, ...numbersOf(figure), figure.of],
          ])
        : []),
    ],
  );
