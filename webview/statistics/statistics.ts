import '../language/page';
import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './statistics.css';
import { bars, barsHeight, line, type PictureElement } from './pictures';
import { PageElement } from '../dialogue/page';
import { isFlag, isOneOf, part } from '../savedState';
import { t } from '../language';
import { saveButtons } from '../saving/buttons';
import type { PageFile } from '../saving/protocol';
import { button, linkButton } from '../ui';
import { help } from '../ui/help';
import { inlineSelect } from '../ui/inline';
import { numberColumn, table } from '../ui/table';
import { described, inWords, measures, pageMeasures, statisticsCsv, success, type Measure } from './measures';
import {
  groupings,
  type Grouping,
  type GroupView,
  type ToWebview,
  type Unit,
  type FromWebview,
  type PanelState,
} from './protocol';
import type { Theme } from '../ui/theme';
import { editorApi } from '../editorApi';

const api = editorApi<FromWebview, PanelState>();

const groupingNames: Readonly<Record<Grouping, string>> = {
  agent: t('agent'),
  pack: t('pack'),
  collaborator: t('collaborator'),
};
const columnNames: Readonly<Record<Grouping, string>> = {
  agent: t('Agent'),
  pack: t('Pack'),
  collaborator: t('Collaborator'),
};
const titlesByGroup: Readonly<Record<Grouping, (measure: Measure) => string>> = {
  agent: ({ title }) => t('{0} by agent', title),
  pack: ({ title }) => t('{0} by pack', title),
  collaborator: ({ title }) => t('{0} by collaborator', title),
};
const titlesByPeriod: Readonly<Record<Unit, string>> = {
  hour: t('Success per hour'),
  day: t('Success per day'),
  week: t('Success per week'),
  month: t('Success per month'),
};
const LINE_HEIGHT = 220;

@customElement('tandem-statistics')
export class StatisticsElement extends PageElement<ToWebview> {
  @state() private shown: ToWebview | undefined;
  @state() private grouping: Grouping = part(api.getState(), 'grouping', isOneOf(groupings)) ?? 'agent';
  @state() private asTables = part(api.getState(), 'asTables', isFlag) ?? false;

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
      ${groups.length === 0 ? nothingYet(shown) : this.figures(shown, groups)}
      ${help(
        t('Statistics count the dialogues in the list; the lines and dots have 95 % intervals.'),
        'trajectories',
      )}
    </main>`;
  }

  private figures(shown: ToWebview, groups: readonly GroupView[]): TemplateResult {
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
        ${saveButtons({
          ...{ name: t('Statistics'), onSave },
          csv: () => statisticsCsv(shown),
        })}
      </div>
      ${this.figure(titlesByPeriod[unit], t('From'), success, periods, line, () => LINE_HEIGHT)}
      <div class="grid">
        ${[...measures, ...pageMeasures(groups)].map((measure) =>
          this.figure(
            titlesByGroup[this.grouping](measure),
            columnNames[this.grouping],
            measure,
            groups.filter((group) => measure.of(group) !== undefined),
            bars,
            barsHeight,
          ),
        )}
      </div>
      ${this.asTables ? nothing : html`<p class="quiet">${t('Lines with ends are 95 % intervals.')}</p>`}`;
  }

  private figure(
    title: string,
    column: string,
    measure: Measure,
    groups: readonly GroupView[],
    picture: typeof bars,
    height: (groups: number) => number,
  ): TemplateResult {
    const drawn = groups.filter((group) => measure.of(group) !== undefined);
    return html`<figure>
      <figcaption>
        <h2>${title}</h2>
        <p class="quiet">${measure.note}</p>
      </figcaption>
      ${
        drawn.length === 0
          ? html`<p class="none quiet">${t('No dialogue has this value.')}</p>`
          : this.asTables
            ? measureTable(title, column, measure, drawn)
            : html`<tandem-picture
                  .draw=${(theme: Theme) => picture(measure, groups, theme)}
                  .height=${height(groups.length)}
                  .label=${described(measure, drawn)}
                ></tandem-picture>
                ${saveButtons({ name: title, picture: pictureOf, onSave })}`
      }
    </figure>`;
  }

  private keep(): void {
    api.setState({ grouping: this.grouping, asTables: this.asTables });
  }
}

const onSave = (file: PageFile): void => api.postMessage({ type: 'save', file });

const pictureOf = (button: Element): PictureElement | null =>
  button.closest('figure')!.querySelector<PictureElement>('tandem-picture');

function measureTable(
  title: string,
  column: string,
  measure: Measure,
  groups: readonly GroupView[],
): TemplateResult {
  return table(
    title,
    [
      column,
      numberColumn(measure === success ? t('Graded') : t('Dialogues')),
      numberColumn(t('{0} (95 % interval)', measure.title)),
    ],
    groups.map(
      (group) =>
        html`<th scope="row">${group.name}</th>
          <td class="number">${measure.dialogues(group)}</td>
          <td class="number">${inWords(measure.of(group)!, measure)}</td>`,
    ),
  );
}

function nothingYet({ filter }: ToWebview): TemplateResult {
  if (filter !== '') return html`<p>${t('No dialogue matches the filter. Change it to see statistics.')}</p>`;
  return html`<p class="first">${t('Statistics appear here once there are dialogues.')}</p>
    ${button({ label: t('Play the next task'), kind: 'primary', onPress: () => api.postMessage({ type: 'play' }) })}`;
}
