import { percent } from '../../src/core/evaluation/words';
import type { CustomSeriesOption } from 'echarts/charts';
import type { OverSeeds } from '../../src/core/evaluation/overSeeds';
import {
  barPicture,
  axisLine,
  axisText,
  COLOURS,
  gridLine,
  INK,
  legend,
  svgOf,
  titled,
  TOP,
  whisker,
} from '../../src/core/evaluation/pictures/chart';
import { costPicture } from './costPicture';
import { MAIN, type Difference, type Side, type Table, type TableRow } from './table';

/** Returns the SVG pictures of a table, by file name; none until a seed is finished. */
export function picturesOf({ rows, differences, equal }: Table): Readonly<Record<string, string>> {
  const played = rows.filter(({ sides }) => sides.length > 0);
  if (played.length === 0) return {};
  const asking = askingFigure(played);
  const against = differences.filter(({ better }) => better === MAIN);
  return {
    'success.svg': seedPicture({
      title: 'Success on the test split',
      subtitle: 'Mean and 95 % interval over training seeds and tasks; each dot is a seed',
      categories: played.map(({ name }) => name),
      series: played[0]!.sides.map(({ temperature }, place) => ({
        name: temperatureName(temperature),
        values: played.map(({ sides }) => sides[place]!.success),
      })),
      format: percent,
    }),
    ...(against.length > 0 && { 'differences.svg': differencePicture(against, 'each other method') }),
    ...(equal.differences.length > 0 && {
      'equal.svg': differencePicture(equal.differences, 'others of equal β and NLL'),
    }),
    'dialogues.svg': costPicture(played, {
      title: 'Success and dialogues',
      axis: 'dialogues, collected and played in training',
      cost: ({ dialogues }) => dialogues,
    }),
    'compute.svg': costPicture(played, {
      title: 'Success and compute',
      axis: 'tokens, sampled and trained',
      cost: ({ sampled, trained }) => sampled + trained,
    }),
    [`${asking}.svg`]: bars(ASKING_TITLES[asking], played, (side) => side[asking]!),
    'useless.svg': bars('Useless questions, per dialogue', played, ({ useless }) => useless),
    'exhausted.svg': bars('Dialogues that ran out of turns', played, ({ exhausted }) => exhausted, percent),
  };
}

export const temperatureName = (temperature: number): string =>
  temperature === 0 ? 'greedy' : `T = ${temperature}`;

/** The play at the temperature that was chosen on the development split. */
export const ownSide = ({ sides, own }: TableRow): Side | undefined =>
  sides.find(({ temperature }) => temperature === own);

/** The figure that shows how well the agents ask in the world of these rows. */
export const askingFigure = (rows: readonly TableRow[]): 'missed' | 'lost' =>
  rows.some((row) => typeof ownSide(row)?.lost === 'number') ? 'lost' : 'missed';

const ASKING_TITLES = {
  missed: 'Hidden decisions never asked about, per dialogue',
  lost: 'Questions lost to the best decision tree, per dialogue',
} as const;

const points = (value: number): string => {
  const shown = Math.abs(100 * value).toFixed(1);
  return shown === '0.0' ? shown : `${value < 0 ? '−' : '+'}${shown}`;
};

const differencePicture = (all: readonly Difference[], others: string): string =>
  seedPicture({
    title: `SWEET-RL minus ${others}, in points of success`,
    subtitle:
      'Each at its own temperature; mean and 95 % interval over training seeds and tasks; each dot is a seed',
    categories: all.map(({ worse }) => worse),
    series: [{ name: 'own temperature', values: all.map(({ success }) => success) }],
    format: points,
  });

const bars = (
  title: string,
  rows: readonly TableRow[],
  figure: (side: Side) => number,
  format = (value: number): string => value.toFixed(2),
): string =>
  barPicture({
    title,
    categories: rows.map(({ name }) => name),
    series: [{ name: 'own temperature', bars: rows.map((row) => ({ value: figure(ownSide(row)!) })) }],
    format,
  });

interface SeedPicture {
  readonly title: string;
  readonly subtitle: string;
  readonly categories: readonly string[];
  /** Each has one value for each category. */
  readonly series: readonly { readonly name: string; readonly values: readonly OverSeeds[] }[];
  /** Formats a value, beside its dot and on the axis. */
  readonly format: (value: number) => string;
}

const LINE = 20;
const BETWEEN = 18;

/** Draws means with whiskers, and a dot for each training seed: a row for each category, with a line for each series. */
function seedPicture(picture: SeedPicture): string {
  const { title, subtitle, categories, format, series } = picture;
  const height = categories.length * (series.length * LINE + BETWEEN);
  return svgOf(
    {
      title: titled(title, subtitle),
      legend: { ...legend(series.length === 1 ? [] : series.map(({ name }) => name)), icon: 'circle' },
      grid: { left: 180, right: 72, top: TOP, bottom: 40 },
      xAxis: {
        type: 'value',
        axisLabel: { ...axisText, formatter: format },
        splitLine: gridLine,
      },
      yAxis: {
        type: 'category',
        inverse: true,
        data: [...categories],
        axisLabel: axisText,
        axisLine: { ...axisLine, onZero: true },
        axisTick: { show: false },
      },
      series: series.map((_, place) => seriesOf(picture, place)),
    },
    TOP + height + 40,
  );
}

function seriesOf({ series, format }: SeedPicture, place: number): CustomSeriesOption {
  const { name, values } = series[place]!;
  const colour = COLOURS[place]!;
  const offset = (place - (series.length - 1) / 2) * LINE;
  return {
    type: 'custom',
    name,
    silent: true,
    // The dimensions after the category stretch the axis to everything that is drawn.
    data: values.map((one, category) => [one.mean, category, ...reach(one)]),
    encode: { x: [0, 2, 3], y: 1 },
    renderItem: ({ dataIndex }, at) => {
      const { mean, interval, bySeed } = values[dataIndex]!;
      const x = (value: number): number => at.coord([value, dataIndex])[0]!;
      const y = at.coord([mean, dataIndex])[1]! + offset;
      const dot = (value: number, r: number, opacity: number) =>
        ({ type: 'circle', shape: { cx: x(value), cy: y, r }, style: { fill: colour, opacity } }) as const;
      const right = x(reach(values[dataIndex]!)[1]);
      const text = { text: format(mean), fill: INK, fontSize: 12, verticalAlign: 'middle' } as const;
      const ends = interval ? whisker(x(interval.low), x(interval.high), y) : [];
      const dots = bySeed.length > 1 ? bySeed.map((value) => dot(value, 3, 0.45)) : [];
      return {
        type: 'group',
        children: [...ends, ...dots, dot(mean, 5, 1), { type: 'text', x: right + 8, y, style: text }],
      };
    },
  };
}

/** Returns the smallest and the largest value that is drawn. */
const reach = ({ mean, interval, bySeed }: OverSeeds): [number, number] => [
  Math.min(mean, interval?.low ?? mean, ...bySeed),
  Math.max(mean, interval?.high ?? mean, ...bySeed),
];
