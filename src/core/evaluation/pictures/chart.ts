import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, MarkLineComponent, TitleComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';

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
export const FONT = 'system-ui, sans-serif';

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
