import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './statistics.css';
import { columnPicture, type PictureElement } from '../report/pictures';
import { csv } from '../ui/csv';
import type { Table } from '../report/protocol';
import { figureLines, numbersOf, reportTable, figureIn, inWords } from '../report/table';
import { ViewElement } from '../dialogue/element';
import { isFlag, isOneOf, part, editorApi } from '../editorApi';
import { t } from '../language';
import { saveButtons } from '../ui/saving';
import { button, linkButton, help, inlineSelect } from '../ui';
import {
  groupings,
  type Grouping,
  type ToWebview,
  type Unit,
  type FromWebview,
  type PanelState,
} from './protocol';

const api = editorApi<FromWebview, PanelState>();

const groupingNames: Readonly<Record<Grouping, string>> = {
  agent: t('agent'),
  pack: t('pack'),
  collaborator: t('collaborator'),
};
const titlesByGroup: Readonly<Record<Grouping, (measure: string) => string>> = {
  agent: (measure) => t('{0} by agent', measure),
  pack: (measure) => t('{0} by pack', measure),
  collaborator: (measure) => t('{0} by collaborator', measure),
};
const titlesByPeriod: Readonly<Record<Unit, string>> = {
  hour: t('Success per hour'),
  day: t('Success per day'),
  week: t('Success per week'),
  month: t('Success per month'),
};
/** The columns before it are counts. */
const SUCCESS = 2;

@customElement('tandem-statistics')
export class StatisticsElement extends ViewElement<ToWebview> {
  @state() private grouping: Grouping = part(api.getState(), 'grouping', isOneOf(groupings)) ?? 'agent';
  @state() private asTables = part(api.getState(), 'asTables', isFlag) ?? false;

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) {
      return html`<main>
        <h1>${t('Statistics')}</h1>
        <p class="quiet" role="status">${t('Counting the dialogues…')}</p>
      </main>`;
    }
    const groups = shown.groups[this.grouping];
    return html`<main tabindex="0" aria-label=${t('Statistics')}>
      <h1>${t('Statistics')}</h1>
      <p class="headline">
        <span>${shown.headline === '' ? nothing : t('Dialogues: {0}', shown.headline)}</span>
        ${shown.filter === '' ? nothing : html`<span class="quiet">${t('only {0}', shown.filter)}</span>`}
        ${linkButton(t('Filter…'), () => api.postMessage({ type: 'filter' }), t('Filter the list of dialogues'))}
      </p>
      ${groups.rows.length === 0 ? nothingYet(shown) : this.figures(shown, groups)}
      ${help(
        t('Statistics count the dialogues in the list; the lines and dots have 95 % intervals.'),
        'trajectories',
      )}
    </main>`;
  }

  private figures(shown: ToWebview, groups: Table): TemplateResult {
    const { periods, unit } = shown;
    return html`<div class="controls">
        ${inlineSelect(
          t('By'),
          groupings.map((one) => ({ value: one, label: groupingNames[one] })),
          this.grouping,
          (value) => {
            this.grouping = value as Grouping;
            this.keep();
          },
        )}
        ${button({
          label: this.asTables ? t('Show charts') : t('Show tables'),
          icon: this.asTables ? 'graph' : 'table',
          onPress: () => {
            this.asTables = !this.asTables;
            this.keep();
          },
        })}
        ${saveButtons({ name: t('Statistics'), csv: () => statisticsCsv(shown) })}
      </div>
      ${this.figure(titlesByPeriod[unit], periods, SUCCESS, 'line')}
      <div class="grid">
        ${groups.columns.map(({ title }, at) =>
          at < SUCCESS
            ? nothing
            : this.figure(titlesByGroup[this.grouping](inWords(title)), groups, at, 'bars'),
        )}
      </div>
      ${this.asTables ? nothing : html`<p class="quiet">${t('Lines with ends are 95 % intervals.')}</p>`}`;
  }

  private figure(title: string, of: Table, at: number, form: 'bars' | 'line'): TemplateResult {
    const { note = '' } = of.columns[at]!;
    return html`<figure>
      <figcaption>
        <h2>${title}</h2>
        <p class="quiet">${inWords(note)}</p>
      </figcaption>
      ${
        of.rows.every(({ cells }) => cells[at] === null)
          ? html`<p class="none quiet">${t('No dialogue has this value.')}</p>`
          : this.asTables
            ? reportTable(tableOf(title, of, at))
            : html`${columnPicture(of, at, form)} ${saveButtons({ name: title, picture: pictureOf })}`
      }
    </figure>`;
  }

  private keep(): void {
    api.setState({ grouping: this.grouping, asTables: this.asTables });
  }
}

const pictureOf = (button: Element): PictureElement | null =>
  button.closest('figure')!.querySelector<PictureElement>('tandem-picture');

/** Its values with the number of dialogues that each is of. */
function tableOf(name: string, { head, columns, rows }: Table, at: number): Table {
  const [column, count] = [columns[at]!, columns[at === SUCCESS ? 1 : 0]!];
  return {
    ...{
      name,
      head,
      columns: [count, { ...column, title: t('{0} (95 % interval)', inWords(column.title)) }],
    },
    rows: rows.flatMap((row) => {
      const figure = figureIn(row.cells[at]);
      return figure === undefined ? [] : [{ ...row, cells: [{ value: figure.of ?? 0 }, figure] }];
    }),
  };
}

function nothingYet({ filter }: ToWebview): TemplateResult {
  if (filter !== '') return html`<p>${t('No dialogue matches the filter. Change it to see statistics.')}</p>`;
  return html`<p class="first">${t('Statistics appear here once there are dialogues.')}</p>
    ${button({ label: t('Play the next task'), kind: 'primary', onPress: () => api.postMessage({ type: 'play' }) })}`;
}

/** The periods, then each grouping. Names are the same in every language; rates and shares are 0 to 1. */
export const statisticsCsv = ({ periods, unit, groups }: ToWebview): string =>
  csv(
    ['by', 'name', 'measure', 'unit', 'value', 'low', 'high', 'dialogues', 'graded'],
    [[unit, periods] as const, ...Object.entries(groups)].flatMap(([by, table]) =>
      figureLines(table, ({ name, unit: of }, figure, row) => [
        ...[by, inWords(row.name), name, of, ...numbersOf(figure)],
        ...row.cells.slice(0, 2).map((count) => figureIn(count)?.value),
      ]),
    ),
  );
