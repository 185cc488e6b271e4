import { html, nothing, type TemplateResult } from 'lit';
import './chart.css';
import { t } from '../language';
import { button } from '../ui';
import { inlineCheck, inlineSelect } from '../ui/inline';
import type { FigureStyle } from './figures';
import type { Look, Steps } from './protocol';
import type { Zoom } from './steps';
import { stepsControl, stepsOfKey } from './stepsControl';

/** Entries of the smoothing list; `amount` is the weight of the past. */
const SMOOTHINGS: readonly { readonly amount: number; readonly label: string }[] = [
  { amount: 0, label: t('none') },
  { amount: 0.6, label: t('a little') },
  { amount: 0.9, label: t('much') },
  { amount: 0.98, label: t('very much') },
];

interface ChartSection {
  readonly figure: FigureStyle;
  readonly title: string;
  /** Controls that choose the data, such as the metric; they precede the controls of the chart. */
  readonly selects: readonly (TemplateResult | typeof nothing)[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  /** Hides the smoothing list, for curves of held-out measurements, which are not smoothed. */
  readonly isAsMeasured?: boolean;
  /** All steps of the curves, and the range of them that is shown. */
  readonly zoom: Zoom;
  /** Draws the picture. */
  readonly chart: (onSteps: (steps: Steps) => void) => TemplateResult;
  /** Says how many points the picture lacks; empty when it has all. */
  readonly undrawn: string;
  /** Draws the same curves as a table of numbers. */
  readonly table: () => TemplateResult;
  readonly legend: TemplateResult;
}

/** Frames the curves of one figure, which the caller draws: controls, the chart or its table, and the legend. */
export function chartSection(of: ChartSection): TemplateResult {
  const { figure, title, selects, look, onLook, zoom, chart, undrawn, table, legend } = of;
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  const onKey = (event: KeyboardEvent): void => {
    // A select or an input takes typed characters itself.
    if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
    const steps = stepsOfKey(event, zoom);
    if (steps === undefined) return;
    event.preventDefault();
    onSteps(steps);
  };
  return html`<section class="chart" aria-label=${title} @keydown=${onKey}>
    <div class="heading-line">
      <h2>${title}</h2>
      <span class="quiet">${figure.note}</span>
    </div>
    <div class="choices-line">
      ${selects} ${stepsControl({ steps: look.steps, zoom, onSteps })}
      ${
        of.isAsMeasured === true
          ? nothing
          : inlineSelect(
              t('Smoothing'),
              SMOOTHINGS.map((one) => ({ value: String(one.amount), label: one.label })),
              String(look.smoothing),
              (value) => onLook({ ...look, smoothing: Number(value) }),
            )
      }
      ${inlineCheck(t('Logarithmic'), look.isLogarithmic, (isLogarithmic) => onLook({ ...look, isLogarithmic }))}
      ${button({
        label: look.asTable ? t('Show the picture') : t('Show the table'),
        icon: look.asTable ? 'graph-line' : 'table',
        onPress: () => onLook({ ...look, asTable: !look.asTable }),
      })}
    </div>
    ${look.asTable ? table() : chart(onSteps)}
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`} ${legend}
  </section>`;
}

/** Draws the hint below a chart; a table has none, because the wheel scrolls it. */
export const zoomHint = ({ asTable }: Look): TemplateResult | typeof nothing =>
  asTable
    ? nothing
    : html`<span class="quiet"
        >${t('Zoom with Ctrl and the mouse wheel, or with + and -; 0 shows all steps.')}</span
      >`;
