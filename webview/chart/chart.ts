import { LineChart } from 'echarts/charts';
import {
  DataZoomInsideComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { grouped } from '../language/numbers';
import { themeNow, type Theme } from '../ui/theme';
import { CanvasElement } from './canvas';
import type { Figure } from './figures';

use([LineChart, DataZoomInsideComponent, GridComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

/** Curves of one figure over the steps. */
export interface Picture {
  readonly figure: Figure;
  readonly isLogarithmic: boolean;
  /** Another one is another picture: a person's zoom into the last one is of no use in it. */
  readonly key: string;
  /** As the library takes them. */
  readonly series: (theme: Theme) => object[];
  /** What the figures are at a step, for who points at it. */
  readonly hover: (step: number) => string;
}

/** The curves of one figure in the colours of the workbench. Its numbers are in a table as well. */
@customElement('tandem-chart')
export class ChartElement extends CanvasElement {
  @property({ attribute: false }) picture!: Picture;
  /** The picture in words. */
  @property({ attribute: false }) label = '';
  private drawn = '';

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.drawn = '';
  }

  override render(): TemplateResult {
    return html`<div class="canvas" role="img" aria-label=${this.label}></div>`;
  }

  override updated(): void {
    const { key } = this.picture;
    if (this.chart !== undefined && key === this.drawn) {
      this.chart.setOption({ series: this.picture.series(themeNow()) });
      return;
    }
    this.drawn = key;
    this.redraw();
  }

  protected override redraw(): void {
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= init(place, undefined, { renderer: 'canvas' });
    this.chart.setOption(
      optionsOf(() => this.picture, themeNow()),
      { notMerge: true },
    );
  }
}

/** @param latest what the hover tells of: the picture is not made anew with every step */
function optionsOf(latest: () => Picture, theme: Theme): EChartsCoreOption {
  const { figure, isLogarithmic } = latest();
  const text = { fontFamily: theme.font, fontSize: theme.size - 1, color: theme.quiet };
  const faint = { show: true, lineStyle: { color: theme.quiet, opacity: 0.25 } };
  return {
    animation: false,
    grid: { left: 60, right: 16, top: 12, bottom: 28 },
    dataZoom: [{ type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, filterMode: 'none' }],
    tooltip: {
      trigger: 'axis',
      // Drawn on the canvas: the page allows no styles in markup, of which the other kind is made.
      renderMode: 'richText',
      backgroundColor: theme.paper,
      borderColor: theme.quiet,
      shadowBlur: 0,
      textStyle: { ...text, color: theme.ink },
      axisPointer: { type: 'line', lineStyle: { color: theme.quiet } },
      formatter: (points: readonly { readonly axisValue: number | string }[]) =>
        latest().hover(Number(points[0]?.axisValue)),
    },
    xAxis: {
      type: 'value',
      min: 'dataMin',
      max: 'dataMax',
      axisLabel: { ...text, formatter: grouped, hideOverlap: true },
      axisLine: { lineStyle: { color: theme.quiet } },
      axisTick: { show: false },
      splitLine: { show: false },
      minInterval: 1,
    },
    yAxis: {
      type: isLogarithmic ? 'log' : 'value',
      ...(!isLogarithmic && { min: figure.least, max: figure.most, scale: figure.least === undefined }),
      ...(!isLogarithmic && figure.most === 1 && { interval: 0.25 }),
      splitNumber: 4,
      axisLabel: { ...text, formatter: figure.format, hideOverlap: true },
      splitLine: faint,
    },
    series: latest().series(theme),
  };
}
