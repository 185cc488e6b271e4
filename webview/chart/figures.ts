import { figures as declared } from '../../media/events.schema.json';
import { t, decimal, grouped } from '../language';
import type { FigureName } from './protocol';

export interface FigureStyle {
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** As tables of numbers name it; a fraction is 0 to 1. */
  readonly unit: string | undefined;
  /** Ends of the axis; undefined when the values have no bound. */
  readonly least: number | undefined;
  readonly most: number | undefined;
}

/** A figure with an upper bound, such as a share, needs no logarithmic axis. */
export const canBeLogarithmic = ({ most }: FigureStyle): boolean => most === undefined;

const percent = (value: number): string => t('{0} %', decimal(100 * value, 1));

/** Three significant digits, three decimals below 1, whole numbers from 1,000 on, exponents below 0.001. */
export function plain(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1000) return grouped(Math.round(value));
  if (size < 1e-3) return value.toExponential(1);
  return decimal(value, Math.max(0, 3 - Math.max(0, Math.floor(Math.log10(size)) + 1)));
}

const whole = (value: number): string => grouped(Math.round(value));

const memory = (megabytes: number): string =>
  megabytes < 1024 ? t('{0} MB', whole(megabytes)) : t('{0} GB', decimal(megabytes / 1024, 1));

const formats: Readonly<Partial<Record<string, FigureStyle['format']>>> = {
  fraction: percent,
  'tokens/s': whole,
  MB: memory,
};

interface Declared {
  readonly title: string;
  readonly description: string;
  readonly unit?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

function styleOf({ title, description, unit, minimum, maximum }: Declared): FigureStyle {
  // The test that collects sentences for translators takes these from the schema, not from here.
  const ofSchema = t;
  return {
    title: ofSchema(title),
    note: ofSchema(description),
    format: formats[unit ?? ''] ?? plain,
    unit,
    least: minimum,
    most: maximum,
  };
}

export const figures = Object.fromEntries(
  Object.entries<Declared>(declared).map(([name, figure]) => [name, styleOf(figure)]),
) as Readonly<Record<FigureName, FigureStyle>>;
