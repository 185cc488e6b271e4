import '../language/page';
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, state } from 'lit/decorators.js';
import '../ui/page.css';
import './run.css';
import { drawn } from '../chart/chart';
import { grown, noCurves, placed, type RunCurves } from '../chart/curves';
import { curvesCsv } from '../chart/curvesCsv';
import { canBeLogarithmic, figures } from '../chart/figures';
import { chartKey, type ChartName, type Choice, type FigureName, type Look } from '../chart/protocol';
import { choiceOf, lookOf } from '../chart/savedChart';
import { chartSection, pinnedCharts, pinningOf, type TitledChart } from '../chart/section';
import { inRange, zoomOf } from '../chart/steps';
import { PageElement } from '../dialogue/page';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { linkButton } from '../ui';
import { help } from '../ui/help';
import { inlineSelect } from '../ui/inline';
import { curveTable, described, pictureOf, undrawn, type Drawing } from './lines';
import type {
  CurvesView,
  EventListView,
  FromWebview,
  PanelState,
  RunView,
  SamplesView,
  ToWebview,
} from './protocol';
import { sampled } from './samples';
import { act, announcement, clusterNodes, header, outcome, stepper } from './status';
import { tiles } from './tiles';

const api = editorApi<FromWebview, PanelState>();

@customElement('tandem-run')
export class RunElement extends PageElement<ToWebview> {
  @state() private shown: RunView | undefined;
  /** Of all charts shown so far, by chart key. */
  @state() private curves: ReadonlyMap<string, RunCurves> = new Map();
  @state() private samples: SamplesView['groups'] = [];
  @state() private sample = 0;
  @state() private told: EventListView | undefined;
  @state() private said = '';
  @state() private choice: Choice = choiceOf(api.getState());
  @state() private look: Look = lookOf(api.getState());

  protected override ask(): void {
    api.postMessage({ type: 'ready', choice: this.choice });
  }

  override render(): TemplateResult {
    const { shown } = this;
    if (shown === undefined) return html``;
    return html`<main tabindex="0" aria-label=${shown.name}>
      ${header(shown)} ${stepper(shown, shown.stage, (stage) => this.choose({ stage }))} ${outcome(shown)}
      ${
        shown.stage === ''
          ? html`<p class="first quiet">${nothingYet(shown)}</p>`
          : html`${tiles(shown, (figure) => this.choose({ figure }))} ${this.course(shown)}`
      }
      ${clusterNodes(shown)} ${sampled(this.samples, this.sample, (to) => (this.sample = to))}
      ${events(this.told)}
      ${help(t('A run trains a critic or a policy on dialogues, stage by stage; held-out examples show whether it learns.'), 'training')}
      <div role="status" class="unseen">${this.said}</div>
    </main>`;
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (this.sample >= this.samples.length) this.sample = 0;
  }

  protected override receive(message: ToWebview): void {
    switch (message.type) {
      case 'show': {
        const before = this.shown;
        this.shown = message;
        this.keep();
        this.said = announcement(before, message) ?? this.said;
        break;
      }
      case 'curves':
        this.draw(message);
        break;
      case 'samples':
        this.samples = message.groups;
        break;
      case 'told':
        this.told = message;
    }
  }

  private draw({ charts }: CurvesView): void {
    const news = charts.map((chart) => {
      const key = chartKey(chart);
      return [key, grown(this.curves.get(key) ?? noCurves, chart)] as const;
    });
    this.curves = new Map([...this.curves, ...news]);
  }

  private choose(choice: Choice): void {
    this.choice = { ...this.choice, ...choice };
    api.postMessage({ type: 'choose', choice: this.choice });
    this.keep();
  }

  private keep(): void {
    if (this.shown === undefined) return;
    const { dataFolder, id } = this.shown;
    api.setState({ dataFolder, id, choice: this.choice, ...this.look });
  }

  private course(shown: RunView): TemplateResult {
    const { look } = this;
    const onPin = ({ stage, figure }: ChartName, isPinned: boolean): void =>
      api.postMessage({ type: 'pin', stage, figure, isPinned });
    const onLook = (chosen: Look): void => {
      this.look = chosen;
      this.keep();
    };
    const { figures: choices, figure: name, stage, pinned } = shown;
    const figure = figures[name];
    const untrained = choices.find((one) => one.name === name)?.untrained;
    const curves = this.curvesOf(shown);
    const chart = this.chartOf(shown, { ...shown, untrained });
    return html`${chartSection({
      ...{ figure, chart, look, onLook },
      onSave: (file) => api.postMessage({ type: 'save', file }),
      pinning: pinningOf(pinned, { stage, figure: name }, onPin),
      selects: [
        inlineSelect(
          t('Metric'),
          choices.map((one) => ({ value: one.name, label: figures[one.name].title })),
          name,
          (value) => this.choose({ figure: value as FigureName }),
        ),
      ],
      name: [shown.name, chart.title].join(', '),
      csv: () => curvesCsv(stage, name, [{ run: shown.name, ...curves }]),
      legend: html`<p class="legend quiet">
        ${lineKeys(curves.heldOut.points.length > 0)}
        ${
          untrained === undefined
            ? nothing
            : html`<span class="key untrained"
                >${t('untrained baseline on the same pairs: {0}', figure.format(untrained))}</span
              >`
        }
        ${
          curves.training.valuesPerPoint === 1
            ? nothing
            : html`<span
                >${t('A point is the mean of {0} steps.', grouped(curves.training.valuesPerPoint))}</span
              >`
        }
      </p>`,
    })}
    ${pinnedCharts({
      ...{ pinned, look, onLook },
      draw: (one) => this.chartOf(shown, one),
      from: (one) => [this.curvesOf(one), stageLabel(shown, one.stage), one.untrained],
      // Without a chosen stage the page follows the run to its next one.
      onOpen: (one) => this.choose(one.stage === stage ? { figure: one.figure } : one),
      onUnpin: (one) => onPin(one, false),
      legend: html`<p class="legend quiet">
        ${lineKeys(pinned.some((one) => this.curvesOf(one).heldOut.points.length > 0))}
        ${
          pinned.some((one) => one.untrained !== undefined)
            ? html`<span class="key untrained">${t('untrained baseline on the same pairs')}</span>`
            : nothing
        }
      </p>`,
    })}`;
  }

  private chartOf(
    shown: RunView,
    { stage, figure: name, untrained }: ChartName & Pick<Drawing, 'untrained'>,
  ): TitledChart {
    const { look } = this;
    const curves = this.curvesOf({ stage, figure: name });
    const figure = figures[name];
    const { smoothing, axis } = look;
    const isLogarithmic = look.isLogarithmic && canBeLogarithmic(figure);
    const [all, measured] = [placed(curves.training.points, axis), placed(curves.heldOut.points, axis)];
    const zoom = zoomOf(look, stage, [all, measured]);
    const training = inRange(all, zoom.shown);
    const heldOut = inRange(measured, zoom.shown);
    const drawing: Drawing = {
      ...{ figure, training: all, heldOut: measured, untrained, smoothing, isLogarithmic, zoom },
      key: [stage, name, isLogarithmic].join(' '),
    };
    const label = stageLabel(shown, stage);
    const missing = undrawn(drawing);
    const words = [described({ ...drawing, training, heldOut }, label), missing];
    return {
      title: t('{0} of {1}', figure.title, label),
      zoom,
      picture: (onSteps) => drawn(pictureOf(drawing), words, onSteps),
      undrawn: missing,
      table: (tableLabel) => curveTable(tableLabel, figure, training, heldOut, axis),
    };
  }

  private curvesOf(chart: ChartName): RunCurves {
    return this.curves.get(chartKey(chart)) ?? noCurves;
  }
}

function events(told: EventListView | undefined): TemplateResult | typeof nothing {
  if (told === undefined || told.lines.length === 0) return nothing;
  return html`<section aria-label=${t('Events')}>
    <h2>${t('Events')}</h2>
    <ul class="events">
      ${told.lines.map(({ time, text }) => html`<li><time class="quiet">${time}</time><span>${text}</span></li>`)}
    </ul>
    ${
      told.more === ''
        ? nothing
        : html`<p class="quiet">${told.more} ${linkButton(t('Open the event file'), () => act('events'))}</p>`
    }
  </section>`;
}

function nothingYet({ isLive, state }: RunView): string {
  return isLive || state === 'queued'
    ? t('Curves appear here with the first step, once the data are prepared and the model is loaded.')
    : t('There are no curves: no step was made.');
}

const stageLabel = ({ stages }: RunView, stage: string): string =>
  stages.find((one) => one.name === stage)?.label ?? stage;

const lineKeys = (isHeldOut: boolean): TemplateResult =>
  html`<span class="key">${t('training')}</span> ${
      isHeldOut
        ? html`<span class="key held-out">${t('held-out tasks, which are never trained on')}</span>`
        : nothing
    }`;
