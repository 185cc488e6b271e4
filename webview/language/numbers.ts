import { language } from '.';

/** `1,204`. */
export const grouped = (number: number): string => number.toLocaleString(language());

/** `4.0`: with so many digits after the point. */
export function decimal(number: number, digits: number): string {
  return Number(number.toFixed(digits)).toLocaleString(language(), {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    useGrouping: false,
  });
}

/** `3, 5, 9`. */
export function enumerated(numbers: readonly number[]): string {
  return new Intl.ListFormat(language(), { type: 'unit', style: 'short' }).format(numbers.map(String));
}
