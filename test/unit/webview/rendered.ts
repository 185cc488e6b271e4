/** A template of lit as HTML, as far as a test reads it: with what is filled in, without what listens. */
export function rendered(value: unknown): string {
  if (Array.isArray(value)) return value.map(rendered).join('');
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  if (typeof value !== 'object' || value === null) return '';
  const { strings, values = [] } = value as Partial<Template>;
  // A directive, such as `unsafeHTML`, has what it is given.
  return strings === undefined
    ? rendered(values)
    : strings.map((text, index) => text + rendered(values[index])).join('');
}

interface Template {
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
}
