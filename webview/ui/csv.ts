type Value = string | number | undefined;

/** RFC 4180, for programs: numbers have a decimal point in every language; undefined is an empty cell. */
export const csv = (names: readonly string[], rows: readonly (readonly Value[])[]): string =>
  [names, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');

function cell(value: Value): string {
  if (typeof value !== 'string') return value === undefined ? '' : String(value);
  // A spreadsheet would compute a text that begins like a formula, and some texts come from other people.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
