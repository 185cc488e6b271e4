import { html, nothing, svg, type TemplateResult } from 'lit';
import type { FigureName } from '../chart/protocol';
import { figures } from '../chart/figures';
import { t } from '../language';
import type { FigureView, RunView } from './protocol';

/** The list of metrics has all figures. */
const headline: readonly FigureName[] = ['accuracy', 'success', 'loss', 'tokens_per_second', 'memory_mb'];

const WIDTH = 96;
const HEIGHT = 22;

/** Screen readers skip it and read the number beside it. */
function spark(values: readonly number[], isHeldOut: boolean): TemplateResult {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const y = (value: number): number =>
    high === low ? HEIGHT / 2 : HEIGHT - 2 - ((value - low) / (high - low)) * (HEIGHT - 4);
  const points = values.map((value, index) => {
    const x = values.length === 1 ? 0 : (index / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${y(value).toFixed(1)}`;
  });
  return html`<svg
    class="spark ${isHeldOut ? 'held-out' : ''}"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    aria-hidden="true"
    focusable="false"
  >
    ${svg`<polyline points=${points.join(' ')} />`}
  </svg>`;
}

export function tiles(
  { figures: all, figure: chosen }: RunView,
  choose: (figure: FigureName) => void,
): TemplateResult {
  const row = headline.flatMap((name) => all.find((figure) => figure.name === name) ?? []);
  return html`<div class="figures" role="group" aria-label=${t('Figures')}>
    ${row.map((figure) => tile(figure, figure.name === chosen, choose))}
  </div>`;
}

function tile(view: FigureView, isChosen: boolean, choose: (figure: FigureName) => void): TemplateResult {
  const { name, training, heldOut, untrained, outline, isOutlineHeldOut } = view;
  const { title, format } = figures[name];
  const value = heldOut ?? training;
  return html`<button type="button" class="figure" aria-pressed=${isChosen} @click=${() => choose(name)}>
    <span class="quiet">${heldOut === undefined ? title : t('{0}, held out', title)}</span>
    <span class="value"
      ><span>${value === undefined ? '–' : format(value)}</span>${
        outline.length > 1 ? spark(outline, isOutlineHeldOut) : nothing
      }</span
    >
    ${untrained === undefined ? nothing : html`<span class="quiet">${t('untrained {0}', format(untrained))}</span>`}
  </button>`;
}
