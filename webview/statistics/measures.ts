import type { Figure, GroupView } from './protocol';

export type MeasureName = 'success' | 'turns' | 'leak' | 'replySeconds';

/** A figure that is drawn: what it is called, what it is of, and how its values are written. */
export interface Measure {
  readonly name: MeasureName;
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  /** The end of the axis, where values have one. */
  readonly most?: number;
}

const percent = (value: number): string => `${Math.round(100 * value)} %`;

export const success: Measure = {
  name: 'success',
  title: 'Success',
  note: 'All tests passed; averaged per task first',
  format: percent,
  most: 1,
};

export const measures: readonly Measure[] = [
  success,
  {
    name: 'turns',
    title: 'Turns',
    note: 'Agent turns of an answered dialogue, mean',
    format: (value) => value.toFixed(1),
  },
  {
    name: 'leak',
    title: 'Leak',
    note: 'Dialogues in which a reply gives the reference away',
    format: (value) => `${(100 * value).toFixed(1)} %`,
  },
  {
    name: 'replySeconds',
    title: 'Time per reply',
    note: 'Of a developer, median over dialogues',
    format: (value) =>
      value < 90 ? `${value.toFixed(value < 10 ? 1 : 0)} s` : `${(value / 60).toFixed(1)} min`,
  },
];

/** `41 % (38 % to 44 %)`. */
export function inWords({ value, interval }: Figure, { format }: Measure): string {
  const { low, high } = interval ?? {};
  return low === undefined || high === undefined
    ? format(value)
    : `${format(value)} (${format(Math.max(0, low))} to ${format(high)})`;
}

/** A picture said in words, for those who do not see it. */
export function described(measure: Measure, groups: readonly GroupView[]): string {
  const values = groups.flatMap((group) => {
    const figure = group[measure.name];
    return figure === undefined ? [] : [`${group.name}: ${inWords(figure, measure)}`];
  });
  return `${measure.title}. ${values.join('; ')}`;
}
