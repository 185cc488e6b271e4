import './sortable.css';
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import { language, t } from '../language';
import { icon } from '.';
import type { Sort } from './protocol';
import { scrollingTable } from './table';

export interface Column<Row> {
  readonly name: string;
  readonly title: string;
  /** Tooltip of the title. */
  readonly note?: string;
  /** Numbers stand at the right; the first press on their title puts the highest one first. */
  readonly isNumber?: true;
  /** Rows without a value come last in both directions. */
  readonly value: (row: Row) => number | string | undefined;
  readonly cell: (row: Row) => TemplateResult | string;
}

/** Rows with equal values keep their order. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { column, isDescending }: Sort,
): readonly Row[] {
  const { value } = columns.find(({ name }) => name === column) ?? {};
  if (value === undefined) return rows;
  const { compare } = new Intl.Collator(language(), { numeric: true });
  const direction = isDescending ? -1 : 1;
  return rows.toSorted((first, second) => {
    const [a, b] = [value(first), value(second)];
    if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
    const isFirst = typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b));
    return direction * isFirst;
  });
}

interface SortableTable<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly sort: Sort;
  readonly onSort: (sort: Sort) => void;
  readonly idOf: (row: Row) => string;
  readonly nameOf: (row: Row) => string;
  /** Some may not be shown. */
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (ticked: ReadonlySet<string>) => void;
}

/** The arrow keys move between rows. */
export function sortableTable<Row>(of: SortableTable<Row>): TemplateResult {
  const { label, columns, rows, idOf, nameOf, ticked, onTick } = of;
  const ids = rows.map(idOf);
  const areAllTicked = ids.length > 0 && ids.every((id) => ticked.has(id));
  const tick = (changed: readonly string[], isOn: boolean): void => {
    const others = [...ticked].filter((id) => !changed.includes(id));
    onTick(new Set(isOn ? [...others, ...changed] : others));
  };
  return scrollingTable(
    label,
    html`<thead>
        <tr>
          <th scope="col" class="tick">
            ${tickBox(t('Select all shown'), areAllTicked, (isOn) => tick(ids, isOn))}
          </th>
          ${columns.map((column) => columnTitle(column, of))}
        </tr>
      </thead>
      <tbody @keydown=${moveBetweenRows}>
        ${repeat(rows, idOf, (row) => {
          const [first, ...others] = columns;
          const id = idOf(row);
          return html`<tr>
            <td class="tick">
              ${tickBox(t('Select {0}', nameOf(row)), ticked.has(id), (isOn) => tick([id], isOn))}
            </td>
            <th scope="row">${first!.cell(row)}</th>
            ${others.map(
              ({ cell, isNumber }) => html`<td class=${isNumber === true ? 'number' : ''}>${cell(row)}</td>`,
            )}
          </tr>`;
        })}
      </tbody>`,
    'sortable',
  );
}

const tickBox = (label: string, isOn: boolean, onChange: (isOn: boolean) => void): TemplateResult =>
  html`<input
    type="checkbox"
    aria-label=${label}
    .checked=${live(isOn)}
    @change=${(event: Event) => onChange((event.target as HTMLInputElement).checked)}
  />`;

function columnTitle<Row>(
  { name, title, note, isNumber }: Column<Row>,
  { sort, onSort }: SortableTable<Row>,
): TemplateResult {
  const isSorted = sort.column === name;
  const isDescending = isSorted ? !sort.isDescending : isNumber === true;
  const order = sort.isDescending ? 'descending' : 'ascending';
  const direction = html`<span class="direction"
    >${isSorted ? icon(sort.isDescending ? 'arrow-down' : 'arrow-up') : nothing}</span
  >`;
  return html`<th
    scope="col"
    class=${isNumber === true ? 'number' : ''}
    aria-sort=${isSorted ? order : 'none'}
  >
    <button
      type="button"
      class="sort"
      title=${note ?? nothing}
      @click=${() => onSort({ column: name, isDescending })}
    >
      ${isNumber === true ? direction : nothing}${title}${isNumber === true ? nothing : direction}
    </button>
  </th>`;
}

/** To the same control of another row, as in a list of the editor. */
function moveBetweenRows(event: KeyboardEvent): void {
  const { key, target, currentTarget } = event;
  const rows = [...(currentTarget as HTMLElement).querySelectorAll('tr')];
  const row = (target as Element).closest('tr');
  const index = rows.findIndex((one) => one === row);
  const places: Readonly<Record<string, number>> = {
    ...{ ArrowUp: index - 1, ArrowDown: index + 1, Home: 0, End: rows.length - 1 },
  };
  const next = rows[places[key] ?? -1];
  if (next === undefined) return;
  event.preventDefault();
  const control = (target as Element).matches('input') ? 'input' : 'button';
  next.querySelector<HTMLElement>(control)?.focus();
}
