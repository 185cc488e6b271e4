import { html, nothing, type TemplateResult } from 'lit';
import './chart.css';
import { t } from '../language';
import { saveButtons } from '../saving/buttons';
import type { PageFile } from '../saving/protocol';
import { button } from '../ui';
import { inlineCheck, inlineSelect } from '../ui/inline';
import type { ChartElement } from './chart';
import { canBeLogarithmic, type FigureStyle } from './figures';
import type { Pinning, TitledChart } from './pinned';
import { MAX_PINNED, type Axis, type Look, type Steps } from './protocol';
import { allSteps } from './steps';
import { stepsControl, zoomKeys } from './stepsControl';

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
  readonly pinning: Pinning;
  readonly selects: readonly TemplateResult[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  /** Held-out curves are not smoothed: disables the list. */
  readonly isAsMeasured?: boolean;
  readonly legend: TemplateResult;
  /** Title of a saved picture, and proposed file name. */
  readonly name: string;
  /** All values that the page has, not only those in the picture. */
  readonly csv: () => string;
  readonly onSave: (file: PageFile) => void;
}

export function chartSection(of: ChartSection): TemplateResult {
  const { figure, chart, selects, look, onLook, legend, name, csv, onSave } = of;
  const { title, zoom, picture, undrawn, table } = chart;
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  return html`<section class="chart" aria-label=${title} @keydown=${zoomKeys(zoom, onSteps)}>
    <div class="heading-line">
      <h2>${title}</h2>
      <span class="quiet">${figure.note}</span>
    </div>
    <div class="choices-line">
      ${selects}
      ${inlineSelect(
        t('X-axis'),
        [
          { value: 'step', label: t('steps') },
          { value: 'time', label: t('training time') },
        ],
        look.axis,
        (value) => onLook(turned(look, value as Axis)),
      )}
      ${stepsControl({ steps: look.steps, zoom, onSteps })}
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
      ${button({
        label: look.asTable ? t('Show the chart') : t('Show the table'),
        icon: look.asTable ? 'graph-line' : 'table',
        onPress: () => onLook({ ...look, asTable: !look.asTable }),
      })}
      ${pinButton(of.pinning)}
    </div>
    ${look.asTable ? table(figure.title) : picture(onSteps)}
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`} ${legend}
    ${saveButtons({ ...{ name, csv, onSave }, ...(!look.asTable && { picture: chartOf }) })}
  </section>`;
}

/** A fixed range is dropped, because its numbers are those of the old axis. */
const turned = (look: Look, axis: Axis): Look => ({
  ...look,
  axis,
  steps: 'share' in look.steps ? look.steps : allSteps,
});

function pinButton({ isPinned, isFull, onPin }: Pinning): TemplateResult {
  if (isPinned) return button({ label: t('Unpin'), icon: 'pinned', onPress: () => onPin(false) });
  return button({
    label: t('Pin'),
    icon: 'pin',
    title: isFull
      ? t('{0} charts are pinned. Unpin one first.', MAX_PINNED)
      : t('Keep this chart below, for all runs of the workspace'),
    disabled: isFull,
    onPress: () => onPin(true),
  });
}

const chartOf = (button: Element): ChartElement | null =>
  button.closest('section')!.querySelector<ChartElement>('tandem-chart');

/** A table has no hint, because the wheel scrolls it. */
export const zoomHint = ({ asTable }: Look): TemplateResult | typeof nothing =>
  asTable
    ? nothing
    : html`<span class="quiet"
        >${t('Zoom with Ctrl and the mouse wheel, or with + and -; 0 shows all.')}</span
      >`;
