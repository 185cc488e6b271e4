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
import { grouped } from '../language/numbers';
import { themeNow, type Theme } from '../ui/theme';
import { CanvasElement } from './canvas';
import type { Figure } from './figures';
import type { Steps } from './protocol';
import { between, type Zoom } from './steps';

use([LineChart, DataZoomInsideComponent, GridComponent, MarkLineComponent, TooltipComponent, CanvasRenderer]);

/** Curves of one figure over the steps. */
export interface Picture {
  readonly figure: Figure;
  readonly isLogarithmic: boolean;
  /** Its steps, and those that are looked at. */
  readonly zoom: Zoom;
  /** Another one is another picture, which is made anew. */
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
  /** A person looks at other steps, with the wheel or by dragging. */
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
    const { key } = this.picture;
    if (this.chart !== undefined && key === this.drawn) {
      const { zoom, series } = this.picture;
      this.chart.setOption({ ...stepsOption(zoom), series: series(themeNow()) });
      return;
    }
    this.drawn = key;
    this.redraw();
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

/** The ends of what is looked at lie between steps. */
const wholeStep = (step: number): string => (Number.isInteger(step) ? grouped(step) : '');

/** Between values: in percent, which the library would keep, what is looked at would drift with each new step. */
const stepsOption = ({ all, shown }: Zoom) => ({
  xAxis: { min: all.from, max: all.to },
  dataZoom: [shown === all ? { start: 0, end: 100 } : { startValue: shown.from, endValue: shown.to }],
});

/** @param latest what the hover tells of: the picture is not made anew with every step */
function optionsOf(latest: () => Picture, theme: Theme): EChartsCoreOption {
  const { figure, isLogarithmic, zoom } = latest();
  const steps = stepsOption(zoom);
  const text = { fontFamily: theme.font, fontSize: theme.size - 1, color: theme.quiet };
  const faint = { show: true, lineStyle: { color: theme.quiet, opacity: 0.25 } };
  return {
    animation: false,
    grid: { left: 60, right: 16, top: 12, bottom: 28 },
    dataZoom: [
      {
        ...{ type: 'inside', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: true, filterMode: 'none' },
        ...steps.dataZoom[0],
      },
    ],
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
      ...steps.xAxis,
      axisLabel: { ...text, formatter: wholeStep, hideOverlap: true },
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
