import { t } from '../language';
import { grouped } from '../language/numbers';

/** Where a line goes: a step and the value there. */
export type Place = readonly [step: number, value: number];
type Drawn = readonly [step: number, value: number | null];

const isDrawable = (value: number): boolean => value > 0;

/** A line as the library takes it, open where a logarithmic scale has no place for a value. */
export const opened = (line: readonly Place[], isLogarithmic: boolean): readonly Drawn[] =>
  isLogarithmic ? line.map(([step, value]) => [step, isDrawable(value) ? value : null]) : line;

/** The same of a line without symbols; a place with none beside it, of which a line is nothing, is a dot. */
export function openedWithDots(line: readonly Place[], isLogarithmic: boolean): object[] {
  const drawn = opened(line, isLogarithmic);
  const isThere = (index: number): boolean => (drawn[index]?.[1] ?? null) !== null;
  return drawn.map((place, index) =>
    isThere(index) && !isThere(index - 1) && !isThere(index + 1) ? { value: place, symbol: 'circle' } : place,
  );
}

/** How many points a picture lacks, for the person who looks at it; empty when it has all. @param values of all points */
export function undrawnWords(values: readonly number[], isLogarithmic: boolean): string {
  const { length } = values.filter((value) => !isDrawable(value));
  if (!isLogarithmic || length === 0) return '';
  return length === 1
    ? t(
        '1 of {0} points is not drawn: a logarithmic scale shows only values above zero.',
        grouped(values.length),
      )
    : t(
        '{0} of {1} points are not drawn: a logarithmic scale shows only values above zero.',
        grouped(length),
        grouped(values.length),
      );
}
