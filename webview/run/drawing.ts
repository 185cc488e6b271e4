import { t } from '../language';
import { grouped } from '../language/numbers';
import type { Theme } from '../ui/theme';
import type { Picture } from '../chart/chart';
import { nearest, nearestWithin, outline, smoothed, type Point } from '../chart/curves';
import { opened, openedWithDots, undrawnWords, type Place } from '../chart/drawable';
import type { Figure } from '../chart/figures';
import { isIn, lineInRange, type Zoom } from '../chart/steps';

/** A figure of one run: what is drawn and how. */
export interface Drawing {
  readonly figure: Figure;
  readonly training: readonly Point[];
  readonly heldOut: readonly Point[];
  /** What the untrained score has, where the figure has such a control. */
  readonly untrained?: number | undefined;
  /** 0 to 1. */
  readonly smoothing: number;
  readonly isLogarithmic: boolean;
  readonly zoom: Zoom;
  readonly key: string;
}

export const pictureOf = (drawing: Drawing): Picture => ({
  ...drawing,
  series: (theme) => seriesOf(drawing, theme),
  hover: (step) => hover(drawing, step),
});

function seriesOf(drawing: Drawing, theme: Theme): object[] {
  const { training, heldOut, isLogarithmic, zoom } = drawing;
  const means = meansOf(drawing);
  const seen = (line: readonly Place[]): readonly Place[] => lineInRange(line, zoom.shown);
  const plainLine = { type: 'line', symbol: 'none', silent: true };
  return [
    {
      ...plainLine,
      id: 'all',
      lineStyle: { color: theme.series, width: 1, opacity: 0.3 },
      data: opened(seen(outline(training)), isLogarithmic),
    },
    {
      ...plainLine,
      id: 'training',
      lineStyle: { color: theme.series, width: 2 },
      symbolSize: 7,
      itemStyle: { color: theme.series },
      data: openedWithDots(seen(training.map(({ step }, index) => [step, means[index]!])), isLogarithmic),
    },
    {
      type: 'line',
      id: 'held-out',
      // More of them would fill the gaps of the dashes.
      symbol: heldOut.length <= 60 ? 'circle' : 'none',
      symbolSize: 7,
      silent: true,
      lineStyle: { color: theme.second, width: 2, type: 'dashed' },
      itemStyle: { color: theme.second },
      data: openedWithDots(seen(heldOut.map(({ step, mean }) => [step, mean])), isLogarithmic),
    },
    ...(drawing.untrained === undefined ? [] : [level(drawing.untrained, theme)]),
  ];
}

const meansOf = ({ training, smoothing }: Drawing): number[] =>
  smoothed(
    training.map(({ mean }) => mean),
    smoothing,
  );

/** What the picture lacks, in words; empty when it is whole. */
export function undrawn(drawing: Drawing): string {
  const { training, heldOut, isLogarithmic, zoom } = drawing;
  const means = meansOf(drawing);
  const values = [
    ...training.map(({ step, low }, index): Place => [step, Math.min(low, means[index]!)]),
    ...heldOut.map(({ step, mean }): Place => [step, mean]),
  ].flatMap(([step, value]) => (isIn(step, zoom.shown) ? [value] : []));
  return undrawnWords(values, isLogarithmic);
}

/** A line across the picture: it was there before the first step, and does not change. */
const level = (at: number, theme: Theme): object => ({
  type: 'line',
  id: 'untrained',
  silent: true,
  data: [],
  markLine: {
    silent: true,
    symbol: 'none',
    label: { show: false },
    lineStyle: { color: theme.quiet, width: 1.5, type: 'dotted' },
    data: [{ yAxis: at }],
  },
});

/** What the figures are at a step, for who points at it. */
function hover({ figure, training, heldOut }: Drawing, step: number): string {
  const at = Math.round(step);
  const [trained, measured] = [nearestWithin(training, at), nearest(heldOut, at)];
  const lines = [t('step {0}', grouped(at))];
  if (trained !== undefined) {
    const { mean, low, high } = trained;
    lines.push(
      low === high
        ? t('training {0}', figure.format(mean))
        : t('training {0} ({1} to {2})', figure.format(mean), figure.format(low), figure.format(high)),
    );
  }
  if (measured !== undefined)
    lines.push(t('held out {0} (step {1})', figure.format(measured.mean), grouped(measured.step)));
  return lines.join('\n');
}
