import { html, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './runs.css';
import { PageElement } from '../dialogue/element';
import { editorApi, isFlag, isListOfTexts, isRecord, isText, part } from '../editorApi';
import { t, grouped } from '../language';
import { saveButtons } from '../ui/saving';
import { button, textField, help } from '../ui';
import type { Sort } from '../ui/protocol';
import { sortableTable, sortedRows } from '../ui/sortable';
import { columnsOf, narrowed, runsCsv } from './columns';
import type { Action, FromWebview, PanelState, RunRow, ToWebview } from './protocol';

const api = editorApi<FromWebview, PanelState>();
const kept: unknown = api.getState();
const keptSort = part(kept, 'sort', isRecord);

const columns = columnsOf((id) => api.postMessage({ type: 'open', id }));

@customElement('tandem-runs')
export class RunsElement extends PageElement<ToWebview> {
  @state() private shown: readonly RunRow[] | undefined;
  @state() private sort: Sort = {
    column: part(keptSort, 'column', isText) ?? 'started',
    isDescending: part(keptSort, 'isDescending', isFlag) ?? true,
  };
  @state() private text = part(kept, 'text', isText) ?? '';
  @state() private ticked: ReadonlySet<string> = new Set(part(kept, 'ticked', isListOfTexts));

  protected override receive({ runs }: ToWebview): void {
    this.shown = runs;
    this.ticked = new Set(runs.flatMap(({ id }) => (this.ticked.has(id) ? [id] : [])));
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${t('Runs')}>
      <h1>${t('Runs')}</h1>
      ${shown.length === 0 ? nothingYet : this.runs(shown)}
      ${help(t('All runs of the shown log. Click a column title to sort, type to filter, and select runs to compare, evaluate or tag them.'), 'training')}
    </main>`;
  }

  private runs(all: readonly RunRow[]): TemplateResult {
    const rows = sortedRows(narrowed(all, this.text), columns, this.sort);
    // Runs that the text hides are not acted on, because they cannot be seen.
    const ids = rows.flatMap(({ id }) => (this.ticked.has(id) ? [id] : []));
    const act = (action: Action) => (): void => api.postMessage({ type: 'act', action, ids });
    const disabled = ids.length === 0;
    return html`<div class="controls">
        ${textField({
          ...{ id: 'text', label: t('Filter by name, tag, note, …'), value: this.text, isLabelHidden: true },
          onInput: (text) => this.see({ text }),
        })}
        <span class="quiet" role="status">${countWords(rows.length, all.length, ids.length)}</span>
      </div>
      <div class="controls">
        ${button({
          ...{ label: t('Compare'), icon: 'graph-line', kind: 'primary', disabled, onPress: act('compare') },
          title: t('Compare the selected runs; a single one with its base model'),
        })}
        ${button({
          ...{ label: t('Evaluate…'), icon: 'beaker', disabled, onPress: act('evaluate') },
          title: t('Play held-out tasks with the models of the selected runs'),
        })}
        ${button({
          ...{ label: t('Tags…'), icon: 'tag', disabled, onPress: act('tag') },
          title: t('Tag the selected runs'),
        })}
        ${saveButtons({ name: t('Runs'), csv: () => runsCsv(rows) })}
      </div>
      ${
        rows.length === 0
          ? html`<p class="first">${t('No run matches the filter.')}</p>`
          : sortableTable({
              ...{ label: t('Runs'), columns, rows, sort: this.sort, ticked: this.ticked },
              ...{ idOf: ({ id }: RunRow) => id, nameOf: ({ name }: RunRow) => name },
              onSort: (sort) => this.see({ sort }),
              onTick: (ticked) => this.see({ ticked }),
            })
      }`;
  }

  private see(how: { sort?: Sort; text?: string; ticked?: ReadonlySet<string> }): void {
    Object.assign(this, how);
    const { sort, text, ticked } = this;
    api.setState({ sort, text, ticked: [...ticked] });
  }
}

function countWords(shown: number, all: number, ticked: number): string {
  const runs =
    shown === all
      ? all === 1
        ? t('1 run')
        : t('{0} runs', grouped(all))
      : t('{0} of {1} runs', grouped(shown), grouped(all));
  return ticked === 0 ? runs : t('{0}, {1} selected', runs, grouped(ticked));
}

const nothingYet = html`<p class="first">${t('There are no runs yet.')}</p>
  ${button({ label: t('New run…'), kind: 'primary', onPress: () => api.postMessage({ type: 'new' }) })}`;
