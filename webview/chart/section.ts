import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import { editorApi } from '../editorApi';
import { t } from '../language';
import { saveButtons } from '../ui/saving';
import { button, icon, iconButton, linkButton, inlineCheck, inlineSelect } from '../ui';
import './chart.css';
import type { ChartElement } from './chart';
import { canBeLogarithmic, type FigureStyle } from './figures';
import {
  MAX_PINNED,
  chartKey,
  type Axis,
  type Look,
  type Steps,
  type ChartName,
  type PinMessage,
} from './protocol';
import { allSteps, moved, rangeWords, zoomed, type Zoom } from './axis';

/** `amount`: weight of the past. */
const SMOOTHINGS: readonly { readonly amount: number; readonly label: string }[] = [
  { amount: 0, label: t('none') },
  { amount: 0.6, label: t('a little') },
  { amount: 0.9, label: t('much') },
  { amount: 0.98, label: t('very much') },
];

interface ChartSection {
  readonly figure: FigureStyle;
  readonly chart: TitledChart;
  readonly chosen: ChartName;
  readonly pinned: readonly ChartName[];
  /** Choose what the chart shows; they stand beside its title. */
  readonly selects: readonly TemplateResult[];
  /** Of this page alone; behind the gear. */
  readonly settings?: readonly TemplateResult[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  /** Held-out curves are not smoothed: disables the list. */
  readonly isAsMeasured?: boolean;
  readonly legend: TemplateResult;
  /** Title of a saved picture, and proposed file name. */
  readonly name: string;
  /** All values that the page has, not only those in the picture. */
  readonly csv: () => string;
}

export function chartSection(of: ChartSection): TemplateResult {
  const { figure, chart, selects, look, onLook, legend } = of;
  const { title, zoom, picture, undrawn, table } = chart;
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  return html`<section class="chart" aria-label=${title} @keydown=${zoomKeys(zoom, onSteps)}>
    <div class="chart-line">
      <div class="heading-line">
        <h2>${title}</h2>
        <span class="quiet">${figure.note}</span>
      </div>
      <div class="choices-line">
        ${selects}
        <button
          type="button"
          class="icon"
          popovertarget="chart-settings"
          aria-haspopup="dialog"
          title=${t('Chart settings')}
          aria-label=${t('Chart settings')}
        >
          ${icon('gear')}
        </button>
      </div>
    </div>
    <div id="chart-settings" class="settings" popover role="dialog" aria-label=${t('Chart settings')}>
      ${settings(of, onSteps)}
    </div>
    ${look.asTable ? table(figure.title) : picture(onSteps)}
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`} ${legend}
  </section>`;
}

function settings(of: ChartSection, onSteps: (steps: Steps) => void): TemplateResult {
  const { figure, chart, look, onLook, name, csv } = of;
  return html`${of.settings ?? nothing}
    ${inlineSelect(
      t('X-axis'),
      [
        { value: 'step', label: t('steps') },
        { value: 'time', label: t('training time') },
      ],
      look.axis,
      (value) => onLook(turned(look, value as Axis)),
    )}
    ${stepsControl(look.steps, chart.zoom, onSteps)}
    ${inlineSelect(
      t('Smoothing'),
      SMOOTHINGS.map((one) => ({ value: String(one.amount), label: one.label })),
      String(look.smoothing),
      (value) => onLook({ ...look, smoothing: Number(value) }),
      of.isAsMeasured === true ? t('Values on held-out tasks are few, and drawn as measured.') : undefined,
    )}
    ${inlineCheck(
      t('Logarithmic'),
      look.isLogarithmic && canBeLogarithmic(figure),
      (isLogarithmic) => onLook({ ...look, isLogarithmic }),
      canBeLogarithmic(figure) ? undefined : t('A share has a linear axis.'),
    )}
    ${
      look.asTable
        ? nothing
        : html`<p class="quiet">${t('Zoom with Ctrl and the mouse wheel, or with + and -; 0 shows all.')}</p>`
    }
    <div class="buttons">
      ${button({
        label: look.asTable ? t('Show the chart') : t('Show the table'),
        icon: look.asTable ? 'graph-line' : 'table',
        onPress: () => onLook({ ...look, asTable: !look.asTable }),
      })}
      ${pinButton(of)}
    </div>
    ${saveButtons({ name, csv, ...(!look.asTable && { picture: chartOf }) })}`;
}

/** A fixed range is dropped, because its numbers are those of the old axis. */
const turned = (look: Look, axis: Axis): Look => ({
  ...look,
  axis,
  steps: 'share' in look.steps ? look.steps : allSteps,
});

function pinButton({ chosen, pinned }: ChartSection): TemplateResult {
  if (pinned.some((one) => chartKey(one) === chartKey(chosen)))
    return button({ label: t('Unpin'), icon: 'pinned', onPress: () => pin(chosen, false) });
  const isFull = pinned.length >= MAX_PINNED;
  return button({
    label: t('Pin'),
    icon: 'pin',
    title: isFull
      ? t('{0} charts are pinned. Unpin one first.', MAX_PINNED)
      : t('Keep this chart below, for all runs of the workspace'),
    disabled: isFull,
    onPress: () => pin(chosen, true),
  });
}

const pin = ({ stage, figure }: ChartName, isPinned: boolean): void =>
  editorApi<PinMessage, unknown>().postMessage({ type: 'pin', stage, figure, isPinned });

const chartOf = (button: Element): ChartElement | null =>
  button.closest('section')!.querySelector<ChartElement>('tandem-chart');

export interface TitledChart {
  readonly title: string;
  readonly zoom: Zoom;
  readonly picture: (onSteps: (steps: Steps) => void) => TemplateResult;
  /** How many points the picture lacks; empty when it has all. */
  readonly undrawn: string;
  /** @param label unlike that of any other table on the page */
  readonly table: (label: string) => TemplateResult;
}

interface PinnedCharts<Chart extends ChartName> {
  readonly pinned: readonly Chart[];
  readonly draw: (chart: Chart) => TitledChart;
  /** A chart is drawn again only when one of these is another object. */
  readonly from: (chart: Chart) => readonly unknown[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  readonly onOpen: (chart: ChartName) => void;
  readonly legend: TemplateResult;
}

export function pinnedCharts<Chart extends ChartName>(
  of: PinnedCharts<Chart>,
): TemplateResult | typeof nothing {
  const { pinned, from, look, legend } = of;
  if (pinned.length === 0) return nothing;
  return html`<section aria-label=${t('Pinned charts')}>
    <h2>${t('Pinned charts')}</h2>
    <div class="pinned">
      ${repeat(pinned, chartKey, (chart) => guard([look, ...from(chart)], () => card(of, chart)))}
    </div>
    ${legend}
  </section>`;
}

function card<Chart extends ChartName>(of: PinnedCharts<Chart>, chart: Chart): TemplateResult {
  const { draw, look, onLook, onOpen } = of;
  const { stage, figure } = chart;
  const { title, zoom, picture, undrawn, table } = draw(chart);
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  return html`<div class="chart" role="group" aria-label=${title} @keydown=${zoomKeys(zoom, onSteps)}>
    <div class="card-line">
      <h3>${linkButton(title, () => onOpen({ stage, figure }), t('Show it above, with its settings'))}</h3>
      ${iconButton({ icon: 'pinned', label: t('Unpin {0}', title), onPress: () => pin(chart, false) })}
    </div>
    ${look.asTable ? table(t('{0}, pinned', title)) : picture(onSteps)}
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`}
  </div>`;
}

/** `share`: the last fraction of the x-axis. */
const shares = (axis: Axis): readonly { readonly share: number; readonly label: string }[] => [
  { share: 1, label: axis === 'step' ? t('all steps') : t('all of it') },
  { share: 0.5, label: t('last half') },
  { share: 0.1, label: t('last tenth') },
];

/** Value of the list entry for a range that is none of `shares`. */
const OWN = 'own';

function stepsControl(steps: Steps, zoom: Zoom, onSteps: (steps: Steps) => void): TemplateResult {
  const own = rangeWords(zoom);
  const share = 'share' in steps ? steps.share : zoom.shown === zoom.all ? 1 : undefined;
  const options = shares(zoom.axis).map((one) => ({ value: String(one.share), label: one.label }));
  return html`<span class="steps"
    >${inlineSelect(
      zoom.axis === 'step' ? t('Steps') : t('Time'),
      share === undefined ? [...options, { value: OWN, label: own }] : options,
      share === undefined ? OWN : String(share),
      (value) => {
        if (value !== OWN) onSteps({ share: Number(value) });
      },
    )}
    <span class="zoom" role="group" aria-label=${t('Zoom')}>
      ${keyed.map(({ icon, label, key, steps: next }) =>
        iconButton({ icon, label, key, onPress: () => onSteps(next(zoom)) }),
      )}
      ${iconButton({ icon: 'chevron-left', label: t('Earlier'), onPress: () => onSteps(moved(zoom, -0.5)) })}
      ${iconButton({ icon: 'chevron-right', label: t('Later'), onPress: () => onSteps(moved(zoom, 0.5)) })}
    </span>
    <span class="unseen" role="status"
      >${share !== undefined ? '' : zoom.axis === 'step' ? t('steps {0}', own) : own}</span
    ></span
  >`;
}

const keyed = [
  {
    ...{ icon: 'zoom-in', label: t('Zoom in'), key: 'Plus', keys: ['+', '='] },
    steps: (zoom: Zoom) => zoomed(zoom, 0.5),
  },
  {
    ...{ icon: 'zoom-out', label: t('Zoom out'), key: '-', keys: ['-'] },
    steps: (zoom: Zoom) => zoomed(zoom, 2),
  },
  { ...{ icon: 'screen-full', label: t('Show all'), key: '0', keys: ['0'] }, steps: () => allSteps },
];

const zoomKeys =
  (zoom: Zoom, onSteps: (steps: Steps) => void) =>
  (event: KeyboardEvent): void => {
    // A select or an input takes typed characters itself.
    if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const steps = keyed.find(({ keys }) => keys.includes(event.key))?.steps(zoom);
    if (steps === undefined) return;
    event.preventDefault();
    onSteps(steps);
  };
