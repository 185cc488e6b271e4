import { html, nothing, type TemplateResult } from 'lit';
import { numberColumn, table } from '../ui/table';
import type { Cell, Column, Table, Figure, Words, Row } from './protocol';
import { withVisibleControls } from '../dialogue/protocol';
import { t, decimal, grouped, withMinus } from '../language';

interface TableLook {
  /** Class of the table. */
  readonly kind?: string;
  /** Its texts are code. */
  readonly isCode?: true;
  /** Drawn in place of the name of a row. */
  readonly name?: (row: number) => TemplateResult;
  /** Drawn behind the first cell of a row. */
  readonly after?: (row: number) => TemplateResult | typeof nothing;
}

export function reportTable(
  { name: label, head, columns, rows }: Table,
  { kind, isCode, name, after }: TableLook = {},
): TemplateResult {
  return table(
    inWords(label),
    [
      inWords(head),
      ...columns.map(({ title, unit }) =>
        unit === undefined ? inWords(title) : numberColumn(inWords(title)),
      ),
    ],
    rows.map((row, index) => {
      const remark =
        row.remark === undefined ? nothing : html` <span class="quiet">${inWords(row.remark)}</span>`;
      const named = html`${name?.(index) ?? inWords(row.name)}${remark}`;
      const cells = row.cells.map((cell, at) => {
        const { unit, title } = columns[at]!;
        const type = unit !== undefined ? 'number' : isCode && typeof cell === 'string' ? 'text' : nothing;
        const content = html`${cellContent(cell, columns[at]!)}${at === 0 ? (after?.(index) ?? nothing) : nothing}`;
        return html`<td class=${type} data-title=${inWords(title)}>${content}</td>`;
      });
      // Code keeps its blanks, so the markup has none.
      return html`<th scope="row" class=${isCode ? 'text' : nothing}>${named}</th>
        ${cells}`;
    }),
    kind,
  );
}

/** Lines break only between the parts of a figure. A column is read by its numbers, so the rest is quiet. */
export function cellContent(cell: Cell, column: Column): TemplateResult | string {
  if (cell === null) return html`<span class="quiet">–</span>`;
  if (typeof cell === 'string') return inWords(cell);
  if ('sentence' in cell) return html`<span class="quiet whole">${inWords(cell)}</span> `;
  const details = detailsOf(cell, column).map((part) => html` <span class="quiet whole">${part}</span>`);
  return html`<span class="whole">${numberIn(cell.value, column)}</span>${details}`;
}

/** The test that collects sentences for translators takes these from the core, not from here. */
const translated = t;

export const inWords = (words: Words): string =>
  typeof words === 'string'
    ? withVisibleControls(words)
    : translated(
        words.sentence,
        ...words.values.map((value) => (typeof value === 'number' ? grouped(value) : inWords(value))),
      );

export function numberIn(value: number, { unit, digits = 0, isSigned }: Column): string {
  switch (unit) {
    case 'fraction':
      return t('{0} %', decimal(100 * value, digits));
    case 'points':
      return signed(100 * value, 1);
    case 's':
      return value < 90
        ? t('{0} s', decimal(value, value < 10 ? 1 : 0))
        : t('{0} min', decimal(value / 60, 1));
    case 'count':
      return grouped(value);
    default:
      return isSigned === true ? signed(value, digits) : withMinus(value, digits);
  }
}

/** `+13.7`, `−0.5` or `0.0`. */
function signed(value: number, digits: number): string {
  const size = decimal(Math.abs(value), digits);
  return size === decimal(0, digits) ? size : `${value < 0 ? '−' : '+'}${size}`;
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

type Line = readonly (string | number | undefined)[];

/** For CSV: a line for each figure that is not a count, row by row. */
export const figureLines = (
  { columns, rows }: Table,
  lineOf: (column: Column, figure: Figure, row: Row, place: number) => Line,
): Line[] =>
  rows.flatMap((row, place) =>
    columns.flatMap((column, at) => {
      const figure = figureIn(row.cells[at]);
      return figure === undefined || column.unit === 'count' ? [] : [lineOf(column, figure, row, place)];
    }),
  );

export const numbersOf = ({ value, interval }: Figure): Line => [value, interval?.low, interval?.high];
