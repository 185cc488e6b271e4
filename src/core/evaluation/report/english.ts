import { cell as literal, markdownTable } from '../../markdown';
import { grouped } from '../../text';
import { chance, percent, points } from '../words';
import type { Cell, CellFigure, Column, Row, Table, Words } from './table';

// Tables for Markdown and terminals, which are in English.

export const inEnglish = (words: Words): string =>
  typeof words === 'string'
    ? words
    : words.sentence.replaceAll(/\{(\d+)\}/g, (_, index: string) => {
        const value = words.values[Number(index)]!;
        return typeof value === 'number' ? grouped(value) : inEnglish(value);
      });

/** Head and rows. */
export const linesOf = ({ head, columns, rows }: Table): string[][] => [
  [head, ...columns.map(({ title }) => title)].map(inEnglish),
  ...rows.map((row) => [nameOf(row), ...row.cells.map((cell, at) => cellIn(cell, columns[at]!))]),
];

export function tableInMarkdown(table: Table): string {
  const [head, ...rows] = linesOf(table).map((line) => line.map(literal));
  return markdownTable(head!, rows);
}

export const nameOf = ({ name, remark }: Row): string =>
  [name, ...(remark === undefined ? [] : [remark])].map(inEnglish).join(', ');

function cellIn(cell: Cell, column: Column): string {
  if (cell === null) return '–';
  return typeof cell === 'object' && 'value' in cell ? figureIn(cell, column) : inEnglish(cell);
}

/** `31.5 % [27.1, 36.2]`, `+13.7 [+9.1, +18.2], p < 0.001`, `3.1 [2.0, 4.2], n = 8` */
function figureIn({ value, interval, of, p, remark }: CellFigure, column: Column): string {
  const { isCounted } = column;
  const bare = (one: number): string => numberIn(one, column).replace(' %', '');
  return [
    numberIn(value, column) + (interval ? ` [${bare(interval.low)}, ${bare(interval.high)}]` : ''),
    ...(remark === undefined ? [] : [inEnglish(remark)]),
    ...(p === undefined ? [] : [chance(p)]),
    ...(isCounted && of !== undefined ? [`n = ${of}`] : []),
  ].join(', ');
}

function numberIn(value: number, { unit, digits = 0 }: Column): string {
  switch (unit) {
    case 'fraction':
      return percent(value);
    case 'points':
      return points(value);
    case 'count':
      return grouped(value);
    default:
      return value.toFixed(digits).replace('-', '−');
  }
}
