import '../language/page';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './people.css';
import { PageElement } from '../dialogue/page';
import { withVisibleControls } from '../dialogue/untrusted';
import { editorApi } from '../editorApi';
import { isOneOf, part } from '../savedState';
import { t } from '../language';
import { decimal, grouped, withMinus } from '../language/numbers';
import { saveButtons } from '../saving/buttons';
import type { Figure } from '../statistics/protocol';
import { icon, linkButton } from '../ui';
import { help } from '../ui/help';
import { inlineSelect } from '../ui/inline';
import { numberColumn, table } from '../ui/table';
import {
  judgements,
  type AlphaView,
  type DisagreementView,
  type FromWebview,
  type Judgement,
  type OpinionView,
  type PanelState,
  type PersonView,
  type Reliance,
  type ToWebview,
} from './protocol';
import { peopleAsCsv } from './table';

const api = editorApi<FromWebview, PanelState>();

const names: Readonly<Record<Judgement, string>> = {
  stars: t('Stars'),
  thumbs: t('Thumbs'),
  choices: t('Choices'),
};

const judged: Readonly<Record<Judgement, (units: number) => string>> = {
  stars: (units) => t('{0} dialogues rated by two or more', grouped(units)),
  thumbs: (units) => t('{0} turns rated by two or more', grouped(units)),
  choices: (units) => t('{0} pairs of candidates judged by two or more', grouped(units)),
};

const reliances: Readonly<Record<Reliance, { readonly icon: string; readonly words: string }>> = {
  good: { icon: 'check', words: t('Good: their judgments are reliable.') },
  fair: { icon: 'info', words: t('Fair: enough for cautious conclusions only.') },
  poor: { icon: 'warning', words: t('Poor: they judge by different standards.') },
  unsettled: {
    icon: 'question',
    words: t('Undecided: the interval is too wide. Have two or more people judge more dialogues.'),
  },
};

@customElement('tandem-people')
export class PeopleElement extends PageElement<ToWebview> {
  @state() private shown: ToWebview | undefined;
  @state() private kind = part(api.getState(), 'kind', isOneOf(judgements));

  protected override ask(): void {
    api.postMessage({ type: 'ready' });
  }

  protected override receive(message: ToWebview): void {
    this.shown = message;
  }

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
        ${
          shown.people.length === 0
            ? nothing
            : saveButtons({
                name: t('People'),
                csv: () => peopleAsCsv(shown),
                onSave: (file) => api.postMessage({ type: 'save', file }),
              })
        }
      </div>
      ${shown.people.length === 0 ? nobody(shown) : [people(shown), agreement(shown), measuresOf(shown), this.disagreements(shown)]}
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

function people({ people: all, shared }: ToWebview): TemplateResult {
  const played = all.filter(({ tasks }) => tasks > 0).length;
  return html`<section>
    <h2>${t('Figures of each person')}</h2>
    ${table(
      t('Figures of each person'),
      [
        t('Person'),
        ...[
          ...[t('Dialogues'), t('Success'), t('Leaks'), t('Stars'), t('Thumbs up')],
          ...[t('Chose the first'), t('Chose none')],
        ].map(numberColumn),
      ],
      all.map(personRow),
      'people',
    )}
    <p class="quiet note">
      ${t('In brackets: 95 % intervals; n: tasks for success, else what the person judged. Chose the first: share of choices between two candidates that fell on the one shown first, of those that fell on one. Chose none: share of choices of equal or neither.')}
      ${
        played < 2
          ? nothing
          : shared === 0
            ? t('No task was played by all of them, so their success cannot be compared.')
            : t('Success is compared only on tasks that all of them played: {0}.', grouped(shared))
      }
    </p>
  </section>`;
}

function personRow(person: PersonView): TemplateResult {
  const { tasks, success, leak, stars, thumbs, first, undecided } = person;
  return html`<th scope="row">${withVisibleControls(person.name)}</th>
    <td class="number">${grouped(person.dialogues)}</td>
    ${cell(success, percent, tasks)} ${cell(leak, percent)} ${cell(stars, oneDigit, stars?.of)}
    ${[thumbs, first, undecided].map((share) => cell(share, percent, share?.of))}`;
}

function cell(figure: Figure | undefined, format: (value: number) => string, count?: number): TemplateResult {
  if (figure === undefined) return html`<td class="number quiet">–</td>`;
  const { value, interval } = figure;
  return html`<td class="number">
    ${format(value)}
    <span class="quiet"
      >${interval === undefined ? nothing : t('({0} to {1})', format(interval.low), format(interval.high))}
      ${count === undefined ? nothing : t('n = {0}', grouped(count))}</span
    >
  </td>`;
}

const percent = (value: number): string => t('{0} %', Math.round(100 * value));
const oneDigit = (value: number): string => decimal(value, 1);
const twoDigits = (value: number): string => withMinus(value, 2);

function agreement({ alpha }: ToWebview): TemplateResult {
  return html`<section>
    <h2>${t('How far they agree')}</h2>
    <p class="quiet">${t('Krippendorff’s alpha: 1 is full agreement, 0 is what chance would give.')}</p>
    <dl class="alphas">${judgements.map((kind) => alphaCard(kind, alpha[kind]))}</dl>
  </section>`;
}

function alphaCard(kind: Judgement, { alpha, interval, units, reliance }: AlphaView): TemplateResult {
  return html`<div class="alpha">
    <dt>${names[kind]}</dt>
    <dd>
      <p>
        <strong>${alpha === undefined ? '–' : twoDigits(alpha)}</strong>
        ${
          interval === undefined
            ? nothing
            : html`<span class="quiet"
                >${t('{0} to {1}', twoDigits(interval.low), twoDigits(interval.high))}</span
              >`
        }
      </p>
      ${
        units === 0
          ? html`<p class="quiet">${t('Nothing was judged by two people yet.')}</p>`
          : html`<p>${judged[kind](units)}</p>`
      }
      ${
        alpha === undefined && units > 0
          ? html`<p class="quiet">${t('All judged the same, so agreement cannot be told from chance.')}</p>`
          : nothing
      }
      ${reliance === undefined ? nothing : html`<p>${icon(reliances[reliance].icon)} ${reliances[reliance].words}</p>`}
      ${
        alpha !== undefined && interval === undefined
          ? html`<p class="quiet">${t('Too few for an interval.')}</p>`
          : nothing
      }
    </dd>
  </div>`;
}

function measuresOf({ measures: found }: ToWebview): TemplateResult | typeof nothing {
  if (found === undefined) return nothing;
  const title = t('How far measures of web pages agree with choices');
  if (typeof found === 'string') {
    return html`<section>
      <h2>${title}</h2>
      <p>${found}</p>
    </section>`;
  }
  const { measures, undecided, withoutPage } = found;
  return html`<section>
    <h2>${title}</h2>
    ${table(
      title,
      [t('Measure'), ...[t('Prefers the chosen page'), t('Ties')].map(numberColumn)],
      measures.map(
        ({ name, rate, ties }) =>
          html`<th scope="row">${name}</th>
            ${cell(rate, percent, rate?.of)}
            <td class="number">${grouped(ties)}</td>`,
      ),
      'people',
    )}
    <p class="quiet note">
      ${t('n: choices of one of two pages, without ties of the measure. Left out: {0} choices of equal or neither, {1} with a candidate that shows no page.', grouped(undecided), grouped(withoutPage))}
    </p>
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
