import type { CustomSeriesOption } from 'echarts/charts';
import type { EChartsCoreOption } from 'echarts/core';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import { inWords, type Measure } from './measures';
import type { GroupView } from './protocol';
import { themeNow, type Theme } from '../ui/theme';
import { CanvasElement } from '../chart/canvas';

const ROW = 32;
/** In pixels. */
const CHARACTER = 7;
const WIDEST_NAME = 150;

/** In pixels. */
export const barsHeight = (groups: number): number => groups * ROW + 34;

export function bars(measure: Measure, groups: readonly GroupView[], theme: Theme): EChartsCoreOption {
  const longest = Math.max(...groups.map(({ name }) => name.length));
  const width = Math.min(WIDEST_NAME, longest * CHARACTER);
  return {
    ...common(theme),
    grid: { left: width + 12, right: 72, top: 4, bottom: 26 },
    tooltip: tooltip(measure, groups, theme),
    xAxis: valueAxis(measure, theme),
    yAxis: {
      type: 'category',
      inverse: true,
      data: groups.map(({ name }) => name),
      axisLabel: { ...text(theme), width, overflow: 'truncate' },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: [
      {
        type: 'bar',
        barWidth: 14,
        itemStyle: { color: theme.series },
        data: groups.map((group) => measure.of(group)?.value ?? '-'),
      },
      whiskers(measure, groups, theme, 'across'),
    ],
  };
}

export function line(measure: Measure, periods: readonly GroupView[], theme: Theme): EChartsCoreOption {
  return {
    ...common(theme),
    grid: { left: 48, right: 16, top: 12, bottom: 26 },
    tooltip: tooltip(measure, periods, theme),
    xAxis: {
      type: 'category',
      data: periods.map(({ name }) => name),
      axisLabel: { ...text(theme), hideOverlap: true },
      axisLine: { lineStyle: { color: theme.quiet } },
      axisTick: { show: false },
    },
    yAxis: valueAxis(measure, theme),
    series: [
      whiskers(measure, periods, theme, 'up'),
      {
        type: 'line',
        connectNulls: true,
        symbol: 'circle',
        symbolSize: 7,
        lineStyle: { color: theme.series, width: 2 },
        itemStyle: { color: theme.series },
        data: periods.map((period) => measure.of(period)?.value ?? '-'),
      },
    ],
  };
}

const common = ({ font, size, ink }: Theme) => ({
  animation: false,
  textStyle: { fontFamily: font, fontSize: size, color: ink },
});

const text = ({ font, size, ink }: Theme) => ({ fontFamily: font, fontSize: size - 1, color: ink });

const valueAxis = ({ format, most }: Measure, theme: Theme) => ({
  type: 'value',
  min: 0,
  ...(most !== undefined && { max: most }),
  ...(most === 1 && { interval: 0.25 }),
  splitNumber: 4,
  axisLabel: { ...text(theme), color: theme.quiet, formatter: format, hideOverlap: true },
  splitLine: { lineStyle: { color: theme.quiet, opacity: 0.25 } },
});

/** An HTML tooltip needs inline styles, which the page forbids. */
const tooltip = (measure: Measure, groups: readonly GroupView[], theme: Theme) => ({
  trigger: 'item',
  renderMode: 'richText',
  backgroundColor: theme.paper,
  borderColor: theme.quiet,
  shadowBlur: 0,
  textStyle: text(theme),
  formatter: ({ dataIndex }: { readonly dataIndex: number }): string => {
    const group = groups[dataIndex];
    const figure = group && measure.of(group);
    if (group === undefined || figure === undefined) return '';
    const dialogues = group.dialogues === 1 ? t('1 dialogue') : t('{0} dialogues', group.dialogues);
    return [group.name, inWords(figure, measure), dialogues].join('\n');
  },
});

/** Intervals with end marks, and the values beside bars; ECharts has no series for this. */
function whiskers(
  measure: Measure,
  groups: readonly GroupView[],
  theme: Theme,
  direction: 'across' | 'up',
): CustomSeriesOption {
  const across = direction === 'across';
  return {
    type: 'custom',
    silent: true,
    z: 3,
    data: groups.flatMap((group, index) => {
      const figure = measure.of(group);
      if (figure === undefined) return [];
      const { low = figure.value, high = figure.value } = figure.interval ?? {};
      return [[index, Math.max(0, low), high, figure.value]];
    }),
    encode: across ? { y: 0, x: [1, 2] } : { x: 0, y: [1, 2] },
    renderItem: (_, at) => {
      const [index, low, high, value] = [0, 1, 2, 3].map((column) => Number(at.value(column)));
      const [x1, y1] = across ? at.coord([low!, index!]) : at.coord([index!, low!]);
      const [x2, y2] = across ? at.coord([high!, index!]) : at.coord([index!, high!]);
      const ends = across
        ? [piece(x1!, y1! - 4, x1!, y1! + 4), piece(x2!, y2! - 4, x2!, y2! + 4)]
        : [piece(x1! - 4, y1!, x1! + 4, y1!), piece(x2! - 4, y2!, x2! + 4, y2!)];
      const label = {
        type: 'text' as const,
        x: x2! + 8,
        y: y2!,
        style: { text: measure.format(value!), fill: theme.ink, font: `${theme.size - 1}px ${theme.font}` },
      };
      return {
        type: 'group',
        children: [
          ...(low === high ? [] : [piece(x1!, y1!, x2!, y2!), ...ends]),
          ...(across ? [{ ...label, style: { ...label.style, verticalAlign: 'middle' as const } }] : []),
        ],
      };
    },
  };

  function piece(x1: number, y1: number, x2: number, y2: number) {
    return {
      type: 'line' as const,
      shape: { x1, y1, x2, y2 },
      style: { stroke: theme.ink, lineWidth: 1.25 },
    };
  }
}

@customElement('tandem-picture')
export class PictureElement extends CanvasElement {
  @property({ attribute: false }) draw!: (theme: Theme) => EChartsCoreOption;
  /** In pixels. */
  @property({ attribute: false }) height = 200;
  @property({ attribute: false }) label = '';

  override render(): TemplateResult {
    return html`<div
      class="canvas"
      role="img"
      aria-label=${this.label}
      .style=${`height: ${this.height}px`}
    ></div>`;
  }

  override updated(): void {
    void this.redraw();
  }

  protected override async redraw(): Promise<void> {
    // ECharts is larger than the rest of the page, so it is loaded after the text around the pictures is drawn.
    const { init } = await import('./charts');
    if (!this.isConnected) return;
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= init(place, undefined, { renderer: 'canvas' });
    this.chart.resize();
    this.chart.setOption(this.draw(themeNow()), { notMerge: true });
  }
}
