import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { decimal, grouped, withMinus } from '../language/numbers';
import type { Cell, Column, Figure, Words } from './protocol';

/** The test that collects sentences for translators takes these from the core, not from here. */
const translated = t;

export const inWords = (words: Words): string =>
  typeof words === 'string'
    ? withVisibleControls(words)
    : translated(
        words.sentence,
        ...words.values.map((value) => (typeof value === 'number' ? grouped(value) : inWords(value))),
      );

export function numberIn(value: number, { unit, digits = 0 }: Column): string {
  switch (unit) {
    case 'fraction':
      return t('{0} %', decimal(100 * value, digits));
    case 'points':
      return signed(value);
    case 's':
      return value < 90
        ? t('{0} s', decimal(value, value < 10 ? 1 : 0))
        : t('{0} min', decimal(value / 60, 1));
    case 'count':
      return grouped(value);
    default:
      return withMinus(value, digits);
  }
}

/** In percentage points: `+13.7`, `−0.5` or `0.0`. */
function signed(value: number): string {
  const points = decimal(100 * Math.abs(value), 1);
  return points === decimal(0, 1) ? points : `${value < 0 ? '−' : '+'}${points}`;
}

/** What stands behind a number: `(38 to 44)`, `p = 0.012`, `n = 8`. */
export function detailsOf({ interval, of, p, remark }: Figure, column: Column): string[] {
  const { unit, digits = 0 } = column;
  const end = (value: number): string =>
    unit === 'fraction' ? decimal(100 * value, digits) : numberIn(value, column);
  return [
    ...(interval === undefined ? [] : [t('({0} to {1})', end(interval.low), end(interval.high))]),
    ...(remark === undefined ? [] : [`(${inWords(remark)})`]),
    ...(p === undefined ? [] : [p < 0.001 ? 'p < 0.001' : `p = ${decimal(p, 3)}`]),
    ...(column.isCounted === true && of !== undefined ? [t('n = {0}', grouped(of))] : []),
  ];
}

/** `41 % (38 to 44)` */
export const figureInWords = (figure: Figure, column: Column): string =>
  [numberIn(figure.value, column), ...detailsOf(figure, column)].join(' ');

export const figureIn = (cell: Cell | undefined): Figure | undefined =>
  cell != null && typeof cell === 'object' && 'value' in cell ? cell : undefined;
