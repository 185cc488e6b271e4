import { LineChart } from 'echarts/charts';
import {
  DataZoomInsideComponent,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
} from 'echarts/components';
import { init, use, type ECharts, type EChartsCoreOption } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { grouped } from '../language';
import { CanvasElement, type LegendEntry, themeNow, type Theme } from './canvas';
import type { FigureStyle } from './figures';
import { durationWords, timeLabels, between, type Zoom } from './axis';
import type { Steps } from './protocol';

use([LineChart, DataZoomInsideComponent, GridComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

export interface Picture {
  readonly figure: FigureStyle;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  /** Another key or axis draws the chart from scratch, else only range and series are updated. */
  readonly key: string;
  readonly series: (theme: Theme) => object[];
  /** Tooltip at a place on the x-axis. */
  readonly hover: (x: number) => string;
  /** For a saved picture; the legend on the page is outside of the chart. */
  readonly legend: (theme: Theme) => readonly LegendEntry[];
}

@customElement('tandem-chart')
export class ChartElement extends CanvasElement {
  @property({ attribute: false }) picture!: Picture;
  @property({ attribute: false }) label = '';
  @property({ attribute: false }) onSteps!: (steps: Steps) => void;
  private drawn = '';

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.drawn = '';
  }

  override render(): TemplateResult {
    return html`<div class="canvas" role="img" aria-label=${this.label}></div>`;
  }

  override updated(): void {
    const { zoom, series } = this.picture;
    const key = `${zoom.axis} ${this.picture.key}`;
    if (this.chart !== undefined && key === this.drawn) {
      this.chart.setOption({ ...rangeOption(zoom), series: series(themeNow()) });
      return;
    }
    this.drawn = key;
    this.redraw();
  }

  protected override legend(theme: Theme): readonly LegendEntry[] {
    return this.picture.legend(theme);
  }

  private newChart(place: HTMLElement): ECharts {
    const chart = init(place, undefined, { renderer: 'canvas' });
    chart.on('datazoom', (event) => {
      const { start, end } = (event as { readonly batch: readonly { start: number; end: number }[] })
        .batch[0]!;
      this.onSteps(between(this.picture.zoom, start, end));
    });
    return chart;
  }

  protected override redraw(): void {
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= this.newChart(place);
    this.chart.setOption(
      optionsOf(() => this.picture, themeNow()),
      { notMerge: true },
    );
  }
}

/** @param words for screen readers; empty ones are left out */
export const drawn = (
  picture: Picture,
  words: readonly string[],
  onSteps: (steps: Steps) => void,
): TemplateResult =>
  html`<tandem-chart
    .picture=${picture}
    .onSteps=${onSteps}
    .label=${words.filter((word) => word !== '').join(' ')}
  ></tandem-chart>`;

/** Labels whole steps only: the ends of a zoomed range lie between steps. */
const wholeStep = (step: number): string => (Number.isInteger(step) ? grouped(step) : '');

/** Gives a zoomed range in values: ECharts would keep percentages, and the range would drift with each new step. */
const rangeOption = ({ axis, all, shown }: Zoom) => ({
  xAxis: {
    ...{ min: all.from, max: all.to },
    ...(axis === 'time' && { axisLabel: { customValues: timeLabels(shown) } }),
  },
  dataZoom: [shown === all ? { start: 0, end: 100 } : { startValue: shown.from, endValue: shown.to }],
});

/** @param latest returns the current picture for the tooltip, because a new step does not renew these options */
function optionsOf(latest: () => Picture, theme: Theme): EChartsCoreOption {
  const { figure, isLogarithmic, zoom } = latest();
  const range = rangeOption(zoom);
  const text = { fontFamily: theme.font, fontSize: theme.size - 1, color: theme.quiet };
  const faint = { show: true, lineStyle: { color: theme.quiet, opacity: 0.25 } };
  return {
    animation: false,
    grid: { left: 60, right: 16, top: 12, bottom: 28 },
    dataZoom: [
      {
        ...{ type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, filterMode: 'none' },
        ...range.dataZoom[0],
      },
    ],
    tooltip: {
      trigger: 'axis',
      // The tooltip is drawn on the canvas: an HTML tooltip needs inline styles, which the page forbids.
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
      ...range.xAxis,
      axisLabel: {
        ...text,
        ...range.xAxis.axisLabel,
        formatter: zoom.axis === 'step' ? wholeStep : durationWords,
        hideOverlap: true,
      },
      axisLine: { lineStyle: { color: theme.quiet } },
      axisTick: { show: false },
      splitLine: { show: false },
      ...(zoom.axis === 'step' && { minInterval: 1 }),
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
