import { csv } from '../saving/csv';
import type { Figure } from '../statistics/protocol';
import { judgements, type Judged, type ToWebview } from './protocol';

/** A row for each value; alpha has an empty person. Rates and shares are 0 to 1; `of` counts what was judged. */
export function peopleAsCsv({
  people,
  alpha,
  measures,
}: Pick<ToWebview, 'people' | 'alpha' | 'measures'>): string {
  const row = (
    person: string,
    name: string,
    figure: Partial<Figure> | undefined,
    of: number,
  ): (string | number | undefined)[][] =>
    figure?.value === undefined
      ? []
      : [[person, name, figure.value, figure.interval?.low, figure.interval?.high, of]];
  const judged = (person: string, name: string, figure: Judged | undefined) =>
    row(person, name, figure, figure?.of ?? 0);
  return csv(
    ['person', 'figure', 'value', 'low', 'high', 'of'],
    [
      ...people.flatMap(({ name, dialogues, tasks, ...of }) => [
        ...row(name, 'success', of.success, tasks),
        ...row(name, 'leak', of.leak, dialogues),
        ...judged(name, 'stars', of.stars),
        ...judged(name, 'thumbs_up', of.thumbs),
        ...judged(name, 'first_shown', of.first),
        ...judged(name, 'undecided', of.undecided),
      ]),
      ...judgements.flatMap((kind) => {
        const { alpha: value, interval, units } = alpha[kind];
        return row('', `alpha_${kind}`, { value, interval }, units);
      }),
      ...(typeof measures === 'object' ? measures.measures : []).flatMap(({ name, rate }) =>
        judged('', `prefers_chosen_${name}`, rate),
      ),
    ],
  );
}
