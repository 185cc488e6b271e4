import type { CustomSeriesOption } from 'echarts/charts';
import type { Interval } from '../interval';
import { axisLine, axisText, FONT, gridLine, INK, legend, svgOf, titled, TOP, whisker } from './chart';

export interface Bar {
  readonly value: number;
  readonly interval?: Interval;
}

export interface BarSeries {
  readonly name: string;
  /** One for each category; null where nothing was measured. */
  readonly bars: readonly (Bar | null)[];
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
