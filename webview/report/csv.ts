import { judgements, type ToWebview as People } from '../people/protocol';
import { csv } from '../saving/csv';
import type { ToWebview as Statistics } from '../statistics/protocol';
import type { Column, Figure, Row, Table } from './protocol';
import { figureIn, inWords } from './words';

// Column names and names of figures are the same in every language; rates and shares are 0 to 1.

type Line = readonly (string | number | undefined)[];

/** A line for each figure that is not a count, row by row. */
const lines = (
  { columns, rows }: Table,
  lineOf: (column: Column, figure: Figure, row: Row, place: number) => Line,
): Line[] =>
  rows.flatMap((row, place) =>
    columns.flatMap((column, at) => {
      const figure = figureIn(row.cells[at]);
      return figure === undefined || column.unit === 'count' ? [] : [lineOf(column, figure, row, place)];
    }),
  );

const numbersOf = ({ value, interval }: Figure): Line => [value, interval?.low, interval?.high];

/** The periods, then each grouping. */
export const statisticsCsv = ({
  periods,
  unit,
  groups,
}: Pick<Statistics, 'periods' | 'unit' | 'groups'>): string =>
  csv(
    ['by', 'name', 'measure', 'unit', 'value', 'low', 'high', 'dialogues', 'graded'],
    [[unit, periods] as const, ...Object.entries(groups)].flatMap(([by, table]) =>
      lines(table, ({ name, unit: of }, figure, row) => [
        ...[by, inWords(row.name), name, of, ...numbersOf(figure)],
        ...row.cells.slice(0, 2).map((count) => figureIn(count)?.value),
      ]),
    ),
  );

/** The figures of each person; alpha and measures have an empty person. `of` counts what was judged. */
export const peopleCsv = ({
  people,
  alpha,
  measures,
}: Pick<People, 'people' | 'alpha' | 'measures'>): string =>
  csv(
    ['person', 'figure', 'value', 'low', 'high', 'of'],
    [
      ...lines(people, ({ name }, figure, row) => [inWords(row.name), name, ...numbersOf(figure), figure.of]),
      ...lines(alpha, ({ name }, figure, _, place) => [
        ...['', `${name}_${judgements[place]!}`, ...numbersOf(figure), figure.of],
      ]),
      ...(typeof measures === 'object'
        ? lines(measures.table, ({ name }, figure, row) => [
            ...['', `${name}_${inWords(row.name)}`, ...numbersOf(figure), figure.of],
          ])
        : []),
    ],
  );
