import type { CustomSeriesOption } from 'echarts/charts';
import type { EChartsCoreOption } from 'echarts/core';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { t } from '../language';
import type { Column, Figure, Table } from './protocol';
import { figureIn, figureInWords, inWords, numberIn } from './table';
import { themeNow, type Theme, CanvasElement } from '../chart/canvas';

/** A column of a table, as a picture. */
interface Series {
  readonly column: Column;
  readonly values: readonly { readonly name: string; readonly figure: Figure | undefined }[];
}

type Form = 'bars' | 'line';

const ROW = 32;
/** In pixels. */
const CHARACTER = 7;
const WIDEST_NAME = 150;
const LINE_HEIGHT = 220;

/** Bars leave out the rows without a value; a line passes over them. */
export function columnPicture({ columns, rows }: Table, at: number, form: Form = 'bars'): TemplateResult {
  const column = columns[at]!;
  const all = rows.map(({ name, cells }) => ({ name: inWords(name), figure: figureIn(cells[at]) }));
  const values = form === 'line' ? all : all.filter(({ figure }) => figure !== undefined);
  return html`<tandem-picture
    .series=${{ column, values }}
    .form=${form}
    .label=${described({ column, values })}
  ></tandem-picture>`;
}

/** For screen readers. */
function described({ column, values }: Series): string {
  const words = values.flatMap(({ name, figure }) =>
    figure === undefined ? [] : [t('{0}: {1}', name, figureInWords(figure, column))],
  );
  return `${inWords(column.title)}. ${words.join('; ')}`;
}

function optionOf(series: Series, form: Form, theme: Theme): EChartsCoreOption {
  const { font, size, ink, quiet, series: color } = theme;
  const names = series.values.map(({ name }) => name);
  const category = { type: 'category', data: names, axisTick: { show: false } };
  const data = series.values.map(({ figure }) => figure?.value ?? '-');
  const common = {
    animation: false,
    textStyle: { fontFamily: font, fontSize: size, color: ink },
    tooltip: tooltip(series, theme),
  };
  if (form === 'line') {
    return {
      ...common,
      grid: { left: 48, right: 16, top: 12, bottom: 26 },
      xAxis: {
        ...category,
        axisLabel: { ...text(theme), hideOverlap: true },
        axisLine: { lineStyle: { color: quiet } },
      },
      yAxis: valueAxis(series, theme),
      series: [
        whiskers(series, theme, 'up'),
        {
          ...{ type: 'line', connectNulls: true, symbol: 'circle', symbolSize: 7, data },
          ...{ lineStyle: { color, width: 2 }, itemStyle: { color } },
        },
      ],
    };
  }
  const width = Math.min(WIDEST_NAME, Math.max(...names.map(({ length }) => length)) * CHARACTER);
  return {
    ...common,
    grid: { left: width + 12, right: 72, top: 4, bottom: 26 },
    // Side by side, labels of quarters do not fit a narrow page.
    xAxis: valueAxis(series, theme, 0.5),
    yAxis: {
      ...{ ...category, inverse: true, axisLine: { show: false } },
      axisLabel: { ...text(theme), width, overflow: 'truncate' },
    },
    series: [{ type: 'bar', barWidth: 14, itemStyle: { color }, data }, whiskers(series, theme, 'across')],
  };
}

const text = ({ font, size, ink }: Theme) => ({ fontFamily: font, fontSize: size - 1, color: ink });

const valueAxis = ({ column }: Series, theme: Theme, ofWhole = 0.25) => ({
  type: 'value',
  min: 0,
  ...(column.most !== undefined && { max: column.most }),
  ...(column.most === 1 && { interval: ofWhole }),
  splitNumber: 4,
  axisLabel: {
    ...text(theme),
    color: theme.quiet,
    // Parts of a whole are whole percents.
    formatter: (value: number) =>
      numberIn(value, column.unit === 'fraction' && column.most === 1 ? { ...column, digits: 0 } : column),
    hideOverlap: true,
  },
  splitLine: { lineStyle: { color: theme.quiet, opacity: 0.25 } },
});

/** An HTML tooltip needs inline styles, which the page forbids. */
const tooltip = ({ column, values }: Series, theme: Theme) => ({
  trigger: 'item',
  renderMode: 'richText',
  backgroundColor: theme.paper,
  borderColor: theme.quiet,
  shadowBlur: 0,
  textStyle: text(theme),
  formatter: ({ dataIndex }: { readonly dataIndex: number }): string => {
    const { name, figure } = values[dataIndex] ?? {};
    if (name === undefined || figure === undefined) return '';
    const { of } = figure;
    const dialogues = of === 1 ? t('1 dialogue') : of === undefined ? '' : t('{0} dialogues', of);
    return [name, figureInWords(figure, column), dialogues].filter((words) => words !== '').join('\n');
  },
});

/** Intervals with end marks, and the values beside bars; ECharts has no series for this. */
function whiskers({ column, values }: Series, theme: Theme, direction: 'across' | 'up'): CustomSeriesOption {
  const across = direction === 'across';
  return {
    type: 'custom',
    silent: true,
    z: 3,
    data: values.flatMap(({ figure }, index) => {
      if (figure === undefined) return [];
      const { low = figure.value, high = figure.value } = figure.interval ?? {};
      return [[index, low, high, figure.value]];
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
        style: { text: numberIn(value!, column), fill: theme.ink, font: `${theme.size - 1}px ${theme.font}` },
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
  @property({ attribute: false }) series!: Series;
  @property({ attribute: false }) form!: Form;
  @property({ attribute: false }) label = '';

  override render(): TemplateResult {
    return html`<div
      class="canvas"
      role="img"
      aria-label=${this.label}
      .style=${`height: ${this.height}px`}
    ></div>`;
  }

  private get height(): number {
    return this.form === 'line' ? LINE_HEIGHT : this.series.values.length * ROW + 34;
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
    this.chart.setOption(optionOf(this.series, this.form, themeNow()), { notMerge: true });
  }
}
