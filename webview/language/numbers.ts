import { language } from '.';

/** `1,204` */
export const grouped = (number: number): string => number.toLocaleString(language());

/** Without grouping: `4.0`. */
export function decimal(number: number, digits: number): string {
  return Number(number.toFixed(digits)).toLocaleString(language(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });
}

/** `3, 5, 9` */
export function enumerated(numbers: readonly number[]): string {
  return new Intl.ListFormat(language(), { type: 'unit', style: 'short' }).format(numbers.map(String));
}

/** With a minus sign in place of the hyphen: `−0.50`. */
export const withMinus = (number: number, digits: number): string =>
  decimal(number, digits).replace('-', '−');
