type Value = string | number | undefined;

/**
 * Writes a table as CSV (RFC 4180), for programs that read tables: numbers have a point whatever the display language,
 * and an undefined value is an empty cell.
 */
export const csv = (names: readonly string[], rows: readonly (readonly Value[])[]): string =>
  [names, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

function cell(value: Value): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  // A spreadsheet would compute a text that begins like a formula, and some texts come from other people.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
