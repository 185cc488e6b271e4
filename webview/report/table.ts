import { html, nothing, type TemplateResult } from 'lit';
import { numberColumn, table } from '../ui/table';
import type { Cell, Column, Table } from './protocol';
import { detailsOf, inWords, numberIn } from './words';

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
        const { unit } = columns[at]!;
        const type = unit !== undefined ? 'number' : isCode && typeof cell === 'string' ? 'text' : nothing;
        const content = html`${cellContent(cell, columns[at]!)}${at === 0 ? (after?.(index) ?? nothing) : nothing}`;
        return html`<td class=${type}>${content}</td>`;
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
