import type { EChartsCoreOption } from 'echarts/core';
import { html, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { CanvasElement } from '../chart/canvas';
import { themeNow, type Theme } from '../ui/theme';

/** One picture, as wide as there is room, in the colours of the workbench. */
@customElement('tandem-picture')
export class PictureElement extends CanvasElement {
  /** What is drawn, in a theme. */
  @property({ attribute: false }) draw!: (theme: Theme) => EChartsCoreOption;
  /** Pixels. */
  @property({ attribute: false }) height = 200;
  /** The picture in words. */
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
