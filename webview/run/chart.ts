import { LineChart } from 'echarts/charts';
import { DataZoomInsideComponent, GridComponent, TooltipComponent } from 'echarts/components';
import { init, use, type ECharts, type EChartsCoreOption } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { t } from '../language';
import { grouped } from '../language/numbers';
import { onThemeChange, themeNow, type Theme } from '../ui/theme';
import { outline, smoothed, type Point } from './curves';
import type { Figure } from './figures';

use([LineChart, DataZoomInsideComponent, GridComponent, TooltipComponent, CanvasRenderer]);

/** What is drawn and how. */
export interface Drawing {
  readonly figure: Figure;
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
  /** 0 to 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  /** Another one is another picture: a person's zoom into the last one is of no use in it. */
  readonly key: string;
}

/** The curves of one figure in the colours of the workbench. Its numbers are in a table as well. */
@customElement('tandem-chart')
export class ChartElement extends PlainElement {
  @property({ attribute: false }) drawing!: Drawing;
  /** The picture in words. */
  @property({ attribute: false }) label = '';
  private chart: ECharts | undefined;
  private drawn = '';
  private readonly sizes = new ResizeObserver(() => this.chart?.resize());
  private themes: { readonly dispose: () => void } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.themes = onThemeChange(() => this.redraw());
    this.sizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.themes?.dispose();
    this.sizes.disconnect();
    this.chart?.dispose();
    this.chart = undefined;
    this.drawn = '';
  }

  override render(): TemplateResult {
    return html`<div class="canvas" role="img" aria-label=${this.label}></div>`;
  }

  override updated(): void {
    const { key } = this.drawing;
    if (this.chart !== undefined && key === this.drawn) {
      this.chart.setOption({ series: seriesOf(this.drawing, themeNow()) });
      return;
    }
    this.drawn = key;
    this.redraw();
  }

  private redraw(): void {
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= init(place, undefined, { renderer: 'canvas' });
    this.chart.setOption(
      pictureOf(() => this.drawing, themeNow()),
      { notMerge: true },
    );
  }
}

/** @param latest what the hover tells of: the picture is not made anew with every step */
function pictureOf(latest: () => Drawing, theme: Theme): EChartsCoreOption {
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
        hover(latest(), Number(points[0]?.axisValue)),
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
    series: seriesOf(latest(), theme),
  };
}

function seriesOf(drawing: Drawing, theme: Theme): object[] {
  const { training, heldOut, smoothing, isLogarithmic } = drawing;
  const drawable = (points: [number, number][]): [number, number][] =>
    isLogarithmic ? points.filter(([, value]) => value > 0) : points;
  const means = smoothed(
    training.map(({ mean }) => mean),
    smoothing,
  );
  const plainLine = { type: 'line', symbol: 'none', silent: true };
  return [
    {
      ...plainLine,
      id: 'all',
      lineStyle: { color: theme.series, width: 1, opacity: 0.3 },
      data: drawable(outline(training)),
    },
    {
      ...plainLine,
      id: 'training',
      lineStyle: { color: theme.series, width: 2 },
      data: drawable(training.map(({ step }, index) => [step, means[index]!])),
    },
    {
      type: 'line',
      id: 'held-out',
      symbol: 'circle',
      symbolSize: heldOut.length > 60 ? 3 : 7,
      silent: true,
      lineStyle: { color: theme.second, width: 2, type: 'dashed' },
      itemStyle: { color: theme.second },
      data: drawable(heldOut.map(({ step, mean }) => [step, mean])),
    },
  ];
}

/** What the figures are at a step, for who points at it. */
function hover({ figure, training, heldOut }: Drawing, step: number): string {
  const nearest = (points: readonly Point[]): Point | undefined =>
    points.reduce<Point | undefined>(
      (best, point) =>
        best === undefined || Math.abs(point.step - step) < Math.abs(best.step - step) ? point : best,
      undefined,
    );
  const [trained, measured] = [nearest(training), nearest(heldOut)];
  const lines = [t('step {0}', grouped(Math.round(step)))];
  if (trained !== undefined) {
    const { mean, low, high } = trained;
    lines.push(
      low === high
        ? t('training {0}', figure.format(mean))
        : t('training {0} ({1} to {2})', figure.format(mean), figure.format(low), figure.format(high)),
    );
  }
  if (measured !== undefined)
    lines.push(t('held out {0} (step {1})', figure.format(measured.mean), grouped(measured.step)));
  return lines.join('\n');
}
