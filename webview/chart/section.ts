import { html, nothing, type TemplateResult } from 'lit';
import './chart';
import './chart.css';
import { t } from '../language';
import { button } from '../ui';
import { inlineCheck, inlineSelect } from '../ui/inline';
import type { Picture } from './chart';
import type { Figure } from './figures';
import type { Look, Steps } from './protocol';
import { stepsControl, stepsOfKey } from './stepsControl';

/** How strongly curves can be smoothed. */
const SMOOTHINGS: readonly { readonly amount: number; readonly label: string }[] = [
  { amount: 0, label: t('none') },
  { amount: 0.6, label: t('a little') },
  { amount: 0.9, label: t('much') },
  { amount: 0.98, label: t('very much') },
];

export interface ChartSection {
  /** Of which figure the curves are. */
  readonly figure: Figure;
  readonly title: string;
  /** What is chosen beside how it is drawn. */
  readonly selects: readonly (TemplateResult | typeof nothing)[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  /** Smoothing would say something else than was measured. */
  readonly isAsMeasured?: boolean;
  readonly picture: Picture;
  /** The picture in words. */
  readonly label: string;
  /** What it lacks; empty when it is whole. */
  readonly undrawn: string;
  /** The same in numbers. */
  readonly table: () => TemplateResult;
  readonly legend: TemplateResult;
}

/** Curves of one figure: what is shown of them and how, the picture or its numbers, and what the lines are. */
export function chartSection(of: ChartSection): TemplateResult {
  const { figure, title, selects, look, onLook, picture, label, undrawn, table, legend } = of;
  const { zoom } = picture;
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  const onKey = (event: KeyboardEvent): void => {
    // A list goes to its entries by their letters.
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
    ${
      look.asTable
        ? table()
        : html`<tandem-chart
            .picture=${picture}
            .onSteps=${onSteps}
            .label=${[label, undrawn].filter((words) => words !== '').join(' ')}
          ></tandem-chart>`
    }
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`} ${legend}
  </section>`;
}

/** Below a picture; the wheel moves a table up and down. */
export const zoomHint = ({ asTable }: Look): TemplateResult | typeof nothing =>
  asTable
    ? nothing
    : html`<span class="quiet"
        >${t('Zoom with Ctrl and the mouse wheel, or with + and -; 0 shows all steps.')}</span
      >`;
