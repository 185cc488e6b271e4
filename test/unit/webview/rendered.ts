/** Renders a lit template as HTML for tests, with its values and without its event listeners. */
export function rendered(value: unknown): string {
  if (Array.isArray(value)) return value.map(rendered).join('');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  if (typeof value !== 'object' || value === null) return '';
  const { strings, values = [] } = value as Partial<Template>;
  // A directive, such as `unsafeHTML`, holds its arguments.
  return strings === undefined
    ? rendered(values)
    : strings.map((text, index) => text + rendered(values[index])).join('');
}

interface Template {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}
