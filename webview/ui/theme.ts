/** ECharts knows no CSS variables. */
export interface Theme {
  readonly ink: string;
  readonly quiet: string;
  readonly series: string;
  readonly second: string;
  /** For lines of one kind, in the order in which they are used. */
  readonly palette: readonly string[];
  readonly paper: string;
  readonly font: string;
  readonly size: number;
}

export function themeNow(): Theme {
  const style = getComputedStyle(document.body);
  const variable = (...names: readonly string[]): string =>
    names.map((name) => style.getPropertyValue(`--vscode-${name}`).trim()).find((value) => value !== '') ??
    style.color;
  // Orange is left out, because it is half transparent in VS Code's own dark themes.
  const palette = ['blue', 'yellow', 'green', 'purple', 'red'].map((name) =>
    variable(`charts-${name}`, 'textLink-foreground'),
  );
  return {
    ink: style.color,
    quiet: variable('descriptionForeground'),
    series: palette[0]!,
    second: palette[1]!,
    palette,
    paper: variable('editor-background'),
    font: style.fontFamily,
    size: Number.parseFloat(style.fontSize),
  };
}

export function onThemeChange(listener: () => void): { readonly dispose: () => void } {
  const observer = new MutationObserver(listener);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  return { dispose: () => observer.disconnect() };
}
