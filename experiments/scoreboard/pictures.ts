import { percent } from '../../src/core/evaluation/words';
import type { CustomSeriesOption } from 'echarts/charts';
import type { OverSeeds } from './seeds';
import { barPicture } from '../../src/core/evaluation/pictures/bars';
import {
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
import { MAIN, SAMPLINGS, type Difference, type Row, type Sampling, type Side, type Table } from './table';

/** Returns the SVG pictures of a table, by file name. */
export function picturesOf({ rows, differences }: Table): Readonly<Record<string, string>> {
  const played = rows.filter(hasPlayed);
  const against = differences.filter(({ better }) => better === MAIN);
  return {
    'success.svg': seedPicture({
      title: 'Success on the test split',
      subtitle: 'Mean and 95 % interval over training seeds and tasks; each dot is a seed',
      categories: played.map(({ method }) => method),
      values: (sampling) => played.map((row) => row[sampling].success),
      format: percent,
    }),
    ...(against.length > 0 && {
      'differences.svg': seedPicture({
        title: 'SWEET-RL minus each other method, in points of success',
        subtitle:
          'Same tasks and seeds; mean and 95 % interval over training seeds and tasks; each dot is a seed',
        categories: [...new Set(against.map(({ worse }) => worse))],
        values: (sampling) => successes(against, sampling),
        format: points,
      }),
    }),
    'missed.svg': perDialogue(
      'Hidden decisions never asked about, per dialogue',
      played,
      ({ missed }) => missed,
    ),
    'useless.svg': perDialogue('Useless questions, per dialogue', played, ({ useless }) => useless),
    'exhausted.svg': barPicture({
      title: 'Dialogues that ran out of turns',
      categories: played.map(({ method }) => method),
      series: barsOf(played, ({ exhausted }) => exhausted),
      format: percent,
    }),
  };
}

type PlayedRow = Row & { readonly sampled: Side; readonly greedy: Side };

const hasPlayed = (row: Row): row is PlayedRow => row.sampled !== undefined && row.greedy !== undefined;

const NAMES: Readonly<Record<Sampling, string>> = { sampled: 'T = 1', greedy: 'greedy' };

const points = (value: number): string => {
  const shown = Math.abs(100 * value).toFixed(1);
  return shown === '0.0' ? shown : `${value < 0 ? '−' : '+'}${shown}`;
};

const successes = (all: readonly Difference[], sampling: Sampling): OverSeeds[] =>
  all.filter((one) => one.sampling === sampling).map(({ success }) => success);

function perDialogue(
  title: string,
  rows: readonly PlayedRow[],
  figure: (side: Side) => number | null,
): string {
  return barPicture({
    title,
    categories: rows.map(({ method }) => method),
    series: barsOf(rows, figure),
    format: (value) => value.toFixed(2),
  });
}

const barsOf = (rows: readonly PlayedRow[], figure: (side: Side) => number | null) =>
  SAMPLINGS.map((sampling) => ({
    name: NAMES[sampling],
    bars: rows.map((row) => {
      const value = figure(row[sampling]);
      return value === null ? null : { value };
    }),
  }));

interface SeedPicture {
  readonly title: string;
  readonly subtitle: string;
  readonly categories: readonly string[];
  /** Returns one value for each category. */
  readonly values: (sampling: Sampling) => readonly OverSeeds[];
  /** Formats a value, beside its dot and on the axis. */
  readonly format: (value: number) => string;
}

const LINE = 20;
const BETWEEN = 18;

/**
 * Draws means with whiskers, and a dot for each training seed: a row for each category, with a line for each sampling.
 */
function seedPicture(picture: SeedPicture): string {
  const { title, subtitle, categories, format } = picture;
  const height = categories.length * (SAMPLINGS.length * LINE + BETWEEN);
  return svgOf(
    {
      title: titled(title, subtitle),
      legend: { ...legend(SAMPLINGS.map((sampling) => NAMES[sampling])), icon: 'circle' },
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
      series: SAMPLINGS.map((sampling, i) => seriesOf(sampling, i, picture)),
    },
    TOP + height + 40,
  );
}

function seriesOf(
  sampling: Sampling,
  index: number,
  { values: of, format }: SeedPicture,
): CustomSeriesOption {
  const values = of(sampling);
  const colour = COLOURS[index]!;
  const offset = (index - (SAMPLINGS.length - 1) / 2) * LINE;
  return {
    type: 'custom',
    name: NAMES[sampling],
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
