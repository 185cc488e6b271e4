import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import { t } from '../language';
import { iconButton, linkButton } from '../ui';
import { chartKey, MAX_PINNED, type ChartName, type Look, type Steps } from './protocol';
import type { Zoom } from './steps';
import { zoomKeys } from './stepsControl';

export interface TitledChart {
  readonly title: string;
  readonly zoom: Zoom;
  readonly picture: (onSteps: (steps: Steps) => void) => TemplateResult;
  /** How many points the picture lacks; empty when it has all. */
  readonly undrawn: string;
  /** @param label unlike that of any other table on the page */
  readonly table: (label: string) => TemplateResult;
}

export interface Pinning {
  readonly isPinned: boolean;
  readonly isFull: boolean;
  readonly onPin: (isPinned: boolean) => void;
}

export const pinningOf = (
  pinned: readonly ChartName[],
  chosen: ChartName,
  onPin: (chart: ChartName, isPinned: boolean) => void,
): Pinning => ({
  isPinned: pinned.some((one) => chartKey(one) === chartKey(chosen)),
  isFull: pinned.length >= MAX_PINNED,
  onPin: (isPinned) => onPin(chosen, isPinned),
});

interface PinnedCharts<Chart extends ChartName> {
  readonly pinned: readonly Chart[];
  readonly draw: (chart: Chart) => TitledChart;
  /** A chart is drawn again only when one of these is another object. */
  readonly from: (chart: Chart) => readonly unknown[];
  readonly look: Look;
  readonly onLook: (look: Look) => void;
  readonly onOpen: (chart: ChartName) => void;
  readonly onUnpin: (chart: ChartName) => void;
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
  const { draw, look, onLook, onOpen, onUnpin } = of;
  const { stage, figure } = chart;
  const { title, zoom, picture, undrawn, table } = draw(chart);
  const onSteps = (steps: Steps): void => onLook({ ...look, steps });
  return html`<div class="chart" role="group" aria-label=${title} @keydown=${zoomKeys(zoom, onSteps)}>
    <div class="card-line">
      <h3>${linkButton(title, () => onOpen({ stage, figure }), t('Show it above, with its settings'))}</h3>
      ${iconButton({ icon: 'pinned', label: t('Unpin {0}', title), onPress: () => onUnpin(chart) })}
    </div>
    ${look.asTable ? table(t('{0}, pinned', title)) : picture(onSteps)}
    ${look.asTable || undrawn === '' ? nothing : html`<p class="quiet">${undrawn}</p>`}
  </div>`;
}
