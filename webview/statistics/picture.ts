import type { EChartsCoreOption } from 'echarts/core';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { CanvasElement } from '../chart/canvas';
import { themeNow, type Theme } from '../ui/theme';

@customElement('tandem-picture')
export class PictureElement extends CanvasElement {
  @property({ attribute: false }) draw!: (theme: Theme) => EChartsCoreOption;
  /** In pixels. */
  @property({ attribute: false }) height = 200;
  @property({ attribute: false }) label = '';

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

  protected override async redraw(): Promise<void> {
    // ECharts is larger than the rest of the page, so it is loaded after the text around the pictures is drawn.
    const { init } = await import('./charts');
    if (!this.isConnected) return;
    const place = this.querySelector<HTMLElement>('.canvas');
    if (place === null) return;
    this.chart ??= init(place, undefined, { renderer: 'canvas' });
    this.chart.resize();
    this.chart.setOption(this.draw(themeNow()), { notMerge: true });
  }
}
