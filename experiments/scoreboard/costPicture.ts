import type { CustomSeriesOption } from 'echarts/charts';
import {
  axisLine,
  axisText,
  COLOURS,
  gridLine,
  INK,
  svgOf,
  titled,
  TOP,
} from '../../src/core/evaluation/pictures/chart';
import { percent } from '../../src/core/evaluation/words';
import type { RowCosts, Side, TableRow } from './table';

interface CostPicture {
  readonly title: string;
  readonly axis: string;
  readonly cost: (costs: RowCosts) => number;
}

const HEIGHT = 420;
/** Height of a line of names, in pixels. */
const LINE = 13;
/** Width of a letter of a name, in pixels; the library cannot measure text without a screen. */
const LETTER = 6.5;

interface Point {
  readonly name: string;
  readonly cost: number;
  readonly side: Side;
}

/** Draws success at each method's own temperature over a cost, one named point a method. */
export function costPicture(rows: readonly TableRow[], { title, axis, cost }: CostPicture): string {
  const points = rows.flatMap(({ name, sides, own, costs }): Point[] => {
    const side = sides.find(({ temperature }) => temperature === own);
    return side === undefined || costs === undefined ? [] : [{ name, side, cost: cost(costs) }];
  });
  // From above, so that a name that is moved down meets only those that are placed after it.
  points.sort((a, b) => b.side.success.mean - a.side.success.mean);
  return svgOf(
    {
      title: titled(title, 'At each method’s own temperature; whiskers: 95 % over training seeds and tasks'),
      grid: { left: 60, right: 170, top: TOP, bottom: 52 },
      xAxis: {
        type: 'value',
        name: axis,
        nameLocation: 'middle',
        nameGap: 30,
        nameTextStyle: axisText,
        min: 0,
        axisLabel: { ...axisText, formatter: amount, hideOverlap: true },
        axisLine: { ...axisLine, onZero: false },
        splitLine: { show: false },
      },
      yAxis: { type: 'value', axisLabel: { ...axisText, formatter: percent }, splitLine: gridLine },
      series: [seriesOf(points)],
    },
    HEIGHT,
  );
}

/** `600`, `48 k`, `2.3 M`. */
export function amount(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  return value >= 10_000 ? `${(value / 1000).toFixed(0)} k` : value.toFixed(0);
}

function seriesOf(points: readonly Point[]): CustomSeriesOption {
  const named: Box[] = [];
  return {
    type: 'custom',
    silent: true,
    data: points.map(({ cost, side: { success } }) => [
      cost,
      success.mean,
      success.interval?.low ?? success.mean,
      success.interval?.high ?? success.mean,
    ]),
    encode: { x: 0, y: [1, 2, 3] },
    renderItem: ({ dataIndex }, at) => {
      if (dataIndex === 0) named.length = 0;
      const { name, cost, side } = points[dataIndex]!;
      const { mean, interval } = side.success;
      const [x, y] = at.coord([cost, mean]) as [number, number];
      const colour = COLOURS[dataIndex % COLOURS.length]!;
      const end = (value: number): number => at.coord([cost, value])[1]!;
      const whisker = interval && {
        type: 'line' as const,
        shape: { x1: x, x2: x, y1: end(interval.low), y2: end(interval.high) },
        style: { stroke: colour, lineWidth: 1.5 },
      };
      const place = freeHeight(named, { left: x + 9, right: x + 9 + LETTER * name.length, y });
      return {
        type: 'group',
        children: [
          ...(whisker ? [whisker] : []),
          { type: 'circle', shape: { cx: x, cy: y, r: 5 }, style: { fill: colour } },
          {
            type: 'text',
            x: x + 9,
            y: place,
            style: { text: name, fill: INK, fontSize: 12, verticalAlign: 'middle' },
          },
        ],
      };
    },
  };
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Moves a name down until it covers no other one. */
function freeHeight(named: Box[], box: Box): number {
  let { y } = box;
  const covers = (other: Box): boolean =>
    other.left < box.right && box.left < other.right && Math.abs(other.y - y) < LINE;
  while (named.some(covers)) y += 1;
  named.push({ ...box, y });
  return y;
}
