import { svg, html, type TemplateResult } from 'lit';
import { t } from '../language';
import { grouped } from '../language/numbers';
import type { Picture } from '../chart/chart';
import {
  nearestWithin,
  openedWithDots,
  smoothed,
  smoothedWords,
  undrawnWords,
  type LinePoint,
  type PlacedPoint,
} from '../chart/curves';
import { placeWords } from '../chart/axis';
import type { FigureStyle } from '../chart/figures';
import type { Axis } from '../chart/protocol';
import { isIn, lineInRange, type Zoom } from '../chart/steps';

export interface Line {
  /** Decides colour and dashes among all runs, so that they stay when other lines are hidden. */
  readonly index: number;
  readonly name: string;
  readonly points: readonly PlacedPoint[];
}

/** In pixels; lines can be told apart without colours. */
const DASHES: readonly (readonly number[])[] = [[], [7, 4], [2, 3], [11, 3, 2, 3], [16, 4]];

const dashesOf = (index: number): readonly number[] => DASHES[index % DASHES.length]!;

export interface Drawing {
  readonly figure: FigureStyle;
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
}

export function pictureOf(
  lines: readonly Line[],
  { figure, smoothing, isLogarithmic, zoom, key }: Drawing,
): Picture {
  return {
    ...{ figure, isLogarithmic, zoom, key },
    series: ({ palette }) =>
      lines.map(({ index, points }) => {
        const dashes = dashesOf(index);
        const color = palette[index % palette.length]!;
        return {
          type: 'line',
          id: String(index),
          silent: true,
          symbol: 'none',
          symbolSize: 7,
          itemStyle: { color },
          lineStyle: { color, width: 2, type: dashes.length === 0 ? 'solid' : [...dashes] },
          data: openedWithDots(lineInRange(lineOf(points, smoothing), zoom.shown), isLogarithmic),
        };
      }),
    hover: (x) => hover(lines, figure, zoom.axis, x),
    legend: ({ palette }) =>
      lines.map(({ index, name }) => ({
        label: smoothedWords(name, smoothing),
        color: palette[index % palette.length]!,
        dashes: dashesOf(index),
      })),
  };
}

function lineOf(points: readonly PlacedPoint[], smoothing: number): LinePoint[] {
  const means = smoothed(
    points.map(({ mean }) => mean),
    smoothing,
  );
  return points.map(({ x }, index) => [x, means[index]!]);
}

/** Empty when the picture has all points. */
export function undrawn(lines: readonly Line[], { smoothing, isLogarithmic, zoom }: Drawing): string {
  const places = lines.flatMap(({ points }) => lineOf(points, smoothing));
  const values = places.flatMap(([x, value]) => (isIn(x, zoom.shown) ? [value] : []));
  return undrawnWords(values, isLogarithmic);
}

/** Leaves out runs whose curve does not reach the place. */
function hover(lines: readonly Line[], figure: FigureStyle, axis: Axis, x: number): string {
  const at = axis === 'step' ? Math.round(x) : x;
  const values = lines.flatMap(({ name, points }) => {
    const point = nearestWithin(points, at);
    if (point === undefined) return [];
    const value = figure.format(point.mean);
    return axis === 'step' && point.step === at
      ? t('{0}: {1}', name, value)
      : t('{0}: {1} (step {2})', name, value, grouped(point.step));
  });
  return [placeWords(at, axis), ...values].join('\n');
}

export const sample = (index: number): TemplateResult =>
  html`<svg
    class="sample line-${index % DASHES.length}"
    viewBox="0 0 34 6"
    aria-hidden="true"
    focusable="false"
  >
    ${svg`<line x1="0" y1="3" x2="34" y2="3" stroke-dasharray=${dashesOf(index).join(' ')} />`}
  </svg>`;
