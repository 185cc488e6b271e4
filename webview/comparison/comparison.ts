import { html, nothing, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './comparison.css';
import { grown, type ChartedCurves } from '../chart/curves';
import type { Choice, Look } from '../chart/protocol';
import { choiceOf, lookOf } from '../chart/savedChart';
import { PageElement } from '../dialogue/element';
import { isFlag, isListOfTexts, part, editorApi } from '../editorApi';
import { t } from '../language';
import { button, linkButton, progress, help } from '../ui';
import { courses, type ChosenLines } from './curveCharts';
import type {
  Action,
  ComparedRun,
  ComparisonView,
  ToWebview,
  MeasuredRunsView,
  FromWebview,
  PanelState,
} from './protocol';
import { columnPicture } from '../report/pictures';
import { reportTable, inWords } from '../report/table';

const api = editorApi<FromWebview, PanelState>();
const act = (action: Action): void => api.postMessage({ type: 'act', action });

@customElement('tandem-comparison')
export class ComparisonElement extends PageElement<ToWebview> {
  @state() private shown: ComparisonView | undefined;
  /** Of all charts shown so far. */
  @state() private curves: ChartedCurves = new Map();
  @state() private choice: Choice = choiceOf(api.getState());
  @state() private look: Look = lookOf(api.getState());
  @state() private isHeldOut = part(api.getState(), 'isHeldOut', isFlag) ?? false;
  @state() private switchedOff: readonly string[] = part(api.getState(), 'switchedOff', isListOfTexts) ?? [];

  protected override ask(): void {
    api.postMessage({ type: 'ready', choice: this.choice });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    const [first, ...others] = shown.runs;
    const title =
      others.length === 0
        ? t('{0} vs. base model', first!.name)
        : t('Comparison of {0} runs', shown.runs.length);
    return html`<main tabindex="0" aria-label=${title}>
      <header>
        <h1>${title}</h1>
        <div class="controls">
          ${button({
            label: t('Write report…'),
            icon: 'markdown',
            title: t('A Markdown file with pictures, to commit or send'),
            onPress: () => act('report'),
          })}
        </div>
      </header>
      ${reportTable(shown.table, {
        name: (run) =>
          linkButton(shown.runs[run]!.name, () => api.postMessage({ type: 'open', run }), t('Open the run')),
      })}
      ${measuredRuns(shown)}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">
              ${t('There are no curves yet: none of the runs has made a step.')}
            </p>`
          : this.courses(shown)
      }
      ${critics(shown)} ${others.length === 0 ? nothing : configurations(shown)}
      ${help(t('A comparison puts runs beside each other: their curves, their success on held-out tasks, and what differs in their configurations.'), 'training')}
    </main>`;
  }

  protected override receive(message: ToWebview): void {
    if (message.type === 'curves') this.curves = grown(this.curves, message);
    else {
      this.shown = message;
      this.keep();
    }
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    api.postMessage({ type: 'choose', choice: this.choice });
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, ids } = this.shown;
    const { choice, look, isHeldOut, switchedOff } = this;
    api.setState({ dataFolder, ids, choice, isHeldOut, ...look, switchedOff });
  }

  private courses(shown: ComparisonView): TemplateResult {
    const { curves, look, isHeldOut, switchedOff } = this;
    return courses({
      ...{ shown, curves, look, isHeldOut, switchedOff },
      onChoose: (choice) => this.choose(choice),
      see: (how) => this.see(how),
    });
  }

  private see(how: Partial<ChosenLines>): void {
    Object.assign(this, how);
    this.keep();
  }
}

function critics({ critics: table }: ComparisonView): TemplateResult | typeof nothing {
  if (table === undefined) return nothing;
  return html`<section>
    <div class="heading-line">
      <h2>${inWords(table.name)}</h2>
      <span class="quiet">${t('untrained baseline: the scores of the same model before training')}</span>
    </div>
    ${reportTable(table)}
    <p class="quiet">
      ${t('n: held-out pairs. A rank correlation near 1 means that the critic orders turns as the untrained baseline does; near 0, that training has changed the order.')}
    </p>
  </section>`;
}

function configurations({ differences }: ComparisonView): TemplateResult {
  return html`<section>
    <div class="heading-line">
      <h2>${t('Configurations')}</h2>
      <span class="quiet">${t('differences only')}</span>
    </div>
    ${
      differences === undefined
        ? html`<p class="quiet">${t('They are identical except for names and data.')}</p>`
        : reportTable(differences, { isCode: true })
    }
    ${button({
      label: t('Open as diff'),
      icon: 'diff',
      title: t('The configurations of two runs side by side'),
      onPress: () => act('diff'),
    })}
  </section>`;
}

function measuredRuns({ measured: all, runs, restriction, playing }: ComparisonView): TemplateResult {
  const silent = runs.flatMap((run) => [run.silent, run.startSilent]).filter((sentence) => sentence !== '');
  const canPlay = runs.some((run) => run.silent === '') && restriction === '';
  const isAlone = runs.length === 1;
  return html`<section aria-label=${t('Held-out success')}>
    <div class="heading-line">
      <h2>${t('Held-out success')}</h2>
      <span class="quiet"
        >${
          isAlone
            ? t(
                'on tasks that it was not trained on; the same tasks and seeds for the run and its base model',
              )
            : t('on tasks that none of the runs was trained on; the same tasks and seeds for all')
        }</span
      >
    </div>
    ${all.map(
      (one) =>
        html`<p class="measured">${one.title} <span class="quiet">${one.how}</span></p>
          ${columnPicture(one.table, 0)}
          ${reportTable(one.table, { after: (row) => evaluateLink(one, runs, row, canPlay && playing === '') })}`,
    )}
    ${
      all.length === 0
        ? html`<p class="quiet">
            ${
              isAlone
                ? t(
                    'Not evaluated yet. An evaluation plays held-out tasks with the trained model and with its base model.',
                  )
                : t(
                    'Not evaluated together yet. An evaluation plays held-out tasks with the model of each run.',
                  )
            }
          </p>`
        : html`<p class="quiet">
            ${t('Intervals of 95 %: of success by Wilson over tasks; of differences, in percentage points, by the bootstrap over tasks, each task compared with itself.')}
          </p>`
    }
    ${
      restriction === ''
        ? nothing
        : html`<p class="quiet">
            ${restriction} ${linkButton(t('Manage Workspace Trust'), () => act('trust'))}
          </p>`
    }
    ${silent.map((sentence) => html`<p class="quiet">${sentence}</p>`)}
    ${
      playing !== ''
        ? progress(playing)
        : canPlay
          ? button({
              label: t('Evaluate…'),
              kind: 'primary',
              icon: 'beaker',
              title: t('Choose the tasks, then play them with each model'),
              onPress: () => act('evaluate'),
            })
          : nothing
    }
  </section>`;
}

/** Behind the words that a run was not evaluated. */
function evaluateLink(
  { table, missing }: MeasuredRunsView,
  runs: readonly ComparedRun[],
  row: number,
  canPlay: boolean,
): TemplateResult | typeof nothing {
  const run = runs[missing[row - table.rows.length + missing.length] ?? -1];
  return canPlay && run?.silent === '' ? linkButton(t('Evaluate…'), () => act('evaluate')) : nothing;
}
