import type { ECharts } from 'echarts/core';
import { PlainElement } from '../dialogue/element';

/** An element that ECharts draws on: as wide as its place, and redrawn when the theme changes. */
export abstract class CanvasElement extends PlainElement {
  protected chart: ECharts | undefined;
  private readonly sizes = new ResizeObserver(() => this.chart?.resize());
  private readonly themes = new MutationObserver(() => void this.redraw());

  override connectedCallback(): void {
    super.connectedCallback();
    this.themes.observe(document.body, { attributes: true, attributeFilter: ['class'] });
    this.sizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.themes.disconnect();
    this.sizes.disconnect();
    this.chart?.dispose();
    this.chart = undefined;
  }

  /** Base64; undefined before it is drawn. */
  png(title: string): string | undefined {
    const theme = themeNow();
    return this.chart && pngOf(this.chart, title, this.legend(theme), theme);
  }

  protected legend(_theme: Theme): readonly LegendEntry[] {
    return [];
  }

  protected abstract redraw(): void | Promise<void>;
}

export interface LegendEntry {
  readonly label: string;
  readonly color: string;
  /** In pixels; empty for a solid line. */
  readonly dashes: readonly number[];
}

/** Pixels of the file for each pixel on the screen, so that it is sharp in print. */
const SCALE = 2;
/** In pixels on the screen. */
const [MARGIN, SAMPLE, BESIDE_SAMPLE, BESIDE_ENTRY] = [12, 28, 6, 16];

/** A PNG in base64, in the colours of the theme, with title and legend, which the page draws outside of the chart. */
function pngOf(
  chart: ECharts,
  title: string,
  legend: readonly LegendEntry[],
  { paper, ink, font, size }: Theme,
): string {
  const drawn = chart.renderToCanvas({ pixelRatio: SCALE, backgroundColor: paper });
  const [width, height] = [drawn.width / SCALE, drawn.height / SCALE];
  const line = Math.round(1.8 * size);
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d')!;
  const plain = `${size - 1}px ${font}`;
  context.font = plain;
  const places = placed(legend, width, ({ label }) => context.measureText(label).width);
  const top = 2 * MARGIN + size;
  const rows = (places.at(-1)?.row ?? -1) + 1;

  // A change of the size clears the canvas and its settings.
  canvas.width = drawn.width;
  canvas.height = SCALE * (top + height + rows * line + MARGIN);
  context.scale(SCALE, SCALE);
  context.fillStyle = paper;
  context.fillRect(0, 0, width, canvas.height);
  context.drawImage(drawn, 0, top, width, height);
  context.fillStyle = ink;
  context.textBaseline = 'middle';
  context.font = ['600', `${size}px ${font}`].join(' ');
  context.fillText(title, MARGIN, MARGIN + size / 2, width - 2 * MARGIN);
  context.font = plain;
  context.lineWidth = 2;
  for (const { entry, x, row } of places) {
    const y = top + height + (row + 0.5) * line;
    context.strokeStyle = entry.color;
    context.setLineDash([...entry.dashes]);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + SAMPLE, y);
    context.stroke();
    context.fillText(entry.label, x + SAMPLE + BESIDE_SAMPLE, y);
  }
  return canvas.toDataURL('image/png').replace(/^[^,]*,/, '');
}

interface Place {
  readonly entry: LegendEntry;
  readonly x: number;
  readonly row: number;
}

function placed(
  legend: readonly LegendEntry[],
  width: number,
  measure: (entry: LegendEntry) => number,
): Place[] {
  const places: Place[] = [];
  let [x, row] = [MARGIN, 0];
  for (const entry of legend) {
    const needed = SAMPLE + BESIDE_SAMPLE + measure(entry);
    if (x > MARGIN && x + needed > width - MARGIN) [x, row] = [MARGIN, row + 1];
    places.push({ entry, x, row });
    x += needed + BESIDE_ENTRY;
  }
  return places;
}

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

/** Orange is left out, because it is half transparent in VS Code's own dark themes. */
export const PALETTE = ['blue', 'yellow', 'green', 'purple', 'red'] as const;

export function themeNow(): Theme {
  const style = getComputedStyle(document.body);
  const variable = (...names: readonly string[]): string =>
    names.map((name) => style.getPropertyValue(`--vscode-${name}`).trim()).find((value) => value !== '') ??
    style.color;
  const palette = PALETTE.map((name) => variable(`charts-${name}`, 'textLink-foreground'));
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
