import type { ECharts } from 'echarts/core';
import { PlainElement } from '../dialogue/element';
import { pngOf, type LegendEntry } from '../saving/picture';
import { onThemeChange, themeNow, type Theme } from '../ui/theme';

/** An element that ECharts draws on: as wide as its place, and redrawn when the theme changes. */
export abstract class CanvasElement extends PlainElement {
  protected chart: ECharts | undefined;
  private readonly sizes = new ResizeObserver(() => this.chart?.resize());
  private themes: { readonly dispose: () => void } | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.themes = onThemeChange(() => void this.redraw());
    this.sizes.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.themes?.dispose();
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
