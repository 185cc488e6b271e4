import { BarChart, CustomChart, LineChart, type CustomSeriesOption } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import type { Figure } from '../interval';

use([
  BarChart,
  CustomChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TitleComponent,
  SVGRenderer,
]);

/**
 * Distinguishable with any kind of colour vision (Okabe and Ito 2008), in the order in which series take them. The
 * first is for the state before.
 */
export const COLOURS = ['#767676', '#0072b2', '#d55e00', '#009e73', '#aa4499', '#b58900'] as const;

export const INK = '#2b2b2b';
const FAINT = '#d8d8d8';
/**
 * Opaque: a picture does not know if its page is light or dark, and on a transparent background the text would vanish
 * on one of them.
 */
const PAPER = '#fcfcfc';
/** Font names in quotes would end the attribute into which the library writes them. */
const FONT = 'system-ui, sans-serif';

/** Pixels; a Markdown preview shows this width without scaling. */
export const WIDTH = 760;

/** Below title and legend, in pixels. */
export const TOP = 68;

/** Equal options give equal SVG texts. */
export function svgOf(option: EChartsCoreOption, height: number): string {
  const chart = init(null, undefined, { renderer: 'svg', ssr: true, width: WIDTH, height });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: PAPER,
      color: [...COLOURS],
      textStyle: { fontFamily: FONT, color: INK },
      ...option,
    });
    return withoutHovering(chart.renderToSVGString());
  } finally {
    chart.dispose();
  }
}

/** Pointer reactions are useless in a file, and their names are counted on from picture to picture. */
const withoutHovering = (svg: string): string =>
  svg
    .replaceAll(/ class="zr\d+-cls-\d+"/g, '')
    .replace(/<style >[\s\S]*?<\/style>\n?/, '')
    .replaceAll(/\bzr\d+-/g, 'zr-');

/** The second line says what is shown. */
export const titled = (text: string, subtext = ''): object => ({
  text,
  subtext,
  left: 16,
  top: 10,
  itemGap: 6,
  textStyle: { fontFamily: FONT, color: INK, fontSize: 15, fontWeight: 600 },
  subtextStyle: { fontFamily: FONT, color: INK, fontSize: 12 },
});

export const legend = (names: readonly string[]): object => ({
  data: [...names],
  right: 16,
  top: 12,
  itemWidth: 14,
  itemHeight: 10,
  itemGap: 18,
  textStyle: { fontFamily: FONT, color: INK },
});

export const axisText = { fontFamily: FONT, color: INK, fontSize: 12 };
export const axisLine = { show: true, lineStyle: { color: INK } };
export const gridLine = { show: true, lineStyle: { color: FAINT } };

/** A line with ends, at the height `y`; all in pixels. */
export function whisker(left: number, right: number, y: number) {
  const line = (x1: number, y1: number, x2: number, y2: number) =>
    ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: INK, lineWidth: 1.5 } }) as const;
  return [line(left, y, right, y), line(left, y - 4, left, y + 4), line(right, y - 4, right, y + 4)];
}

interface BarSeries {
  readonly name: string;
  /** One for each category; null where nothing was measured. */
  readonly bars: readonly (Figure | null)[];
}

interface BarPicture {
  readonly title: string;
  readonly subtitle?: string;
  readonly categories: readonly string[];
  readonly series: readonly BarSeries[];
  /** Beside its bar and on the axis. */
  readonly format: (value: number) => string;
}

const BAR = 18;
const BETWEEN_CATEGORIES = 22;
/** Space for a category's name: pixels per character, and its maximum in pixels. */
const CHARACTER = 6.6;
const WIDEST_NAME = 240;

export function barPicture(picture: BarPicture): string {
  const { title, subtitle, categories, series, format } = picture;
  const rows = categories.length * (series.length * BAR + BETWEEN_CATEGORIES);
  const longest = Math.max(...categories.map((name) => name.length));
  return svgOf(
    {
      title: titled(title, subtitle),
      legend: legend(series.map(({ name }) => name)),
      grid: { left: Math.min(WIDEST_NAME, longest * CHARACTER) + 28, right: 64, top: TOP, bottom: 40 },
      xAxis: {
        type: 'value',
        min: 0,
        axisLabel: { ...axisText, formatter: format },
        splitLine: gridLine,
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: [...categories],
        axisLabel: { ...axisText, width: WIDEST_NAME, overflow: 'truncate' },
        axisLine,
        axisTick: { show: false },
      },
      series: [...series.map((one) => barsOf(one)), ...series.map((one, i) => whiskersOf(one, i, picture))],
    },
    TOP + rows + 40,
  );
}

function barsOf({ name, bars }: BarSeries): object {
  return {
    type: 'bar',
    name,
    silent: true,
    barWidth: BAR - 4,
    barGap: '28%',
    data: bars.map((bar) => bar?.value ?? '-'),
  };
}

/** The value is beyond the whisker, in the middle of the bar of that series. */
function whiskersOf({ bars }: BarSeries, index: number, { series, format }: BarPicture): CustomSeriesOption {
  const offset = (index - (series.length - 1) / 2) * BAR;
  return {
    type: 'custom',
    silent: true,
    // A series without a name is in no legend.
    data: bars.flatMap((bar, category) =>
      bar === null
        ? []
        : [[bar.interval?.high ?? bar.value, category, bar.interval?.low ?? bar.value, bar.value]],
    ),
    encode: { x: [0, 2], y: 1 },
    z: 3,
    renderItem: (_, at) => {
      const [high, category, low, mean] = [0, 1, 2, 3].map((column) => Number(at.value(column)));
      const [right, middle] = at.coord([high!, category!]);
      const [left] = at.coord([low!, category!]);
      const y = middle! + offset;
      const label = {
        type: 'text',
        x: right! + 6,
        y,
        style: { text: format(mean!), fill: INK, fontSize: 12, fontFamily: FONT, verticalAlign: 'middle' },
      } as const;
      const interval = high === low ? [] : whisker(left!, right!, y);
      return { type: 'group', children: [...interval, label] };
    },
  };
}
