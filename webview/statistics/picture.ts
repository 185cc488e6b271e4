import type { ECharts, EChartsCoreOption } from 'echarts/core';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { onThemeChange, themeNow, type Theme } from '../ui/theme';

/** One picture, as wide as there is room, in the colours of the workbench. */
@customElement('tandem-picture')
export class PictureElement extends PlainElement {
  /** What is drawn, in a theme. */
  @property({ attribute: false }) draw!: (theme: Theme) => EChartsCoreOption;
  /** Pixels. */
  @property({ attribute: false }) height = 200;
  /** The picture in words. */
  @property({ attribute: false }) label = '';
  private chart: ECharts | undefined;
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

  override render(): TemplateResult {
    return html`<div
      class="canvas"
      role="img"
      aria-label=${this.label}
      .style=${`height: ${this.height}px`}
    ></div>`;
  }

  override updated(): void {
    void this.redraw();
  }

  private async redraw(): Promise<void> {
    // The library is larger than all else in the view: it is read when the words around the pictures are there.
    const { init } = await import('./charts');
    if (!this.isConnected) return;
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= init(place, undefined, { renderer: 'canvas' });
    this.chart.resize();
    this.chart.setOption(this.draw(themeNow()), { notMerge: true });
  }
}
