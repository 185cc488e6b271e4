import { html, LitElement, render, type PropertyValues } from 'lit';
import { t } from '../language';

/** An element without a shadow root, so that one style sheet serves the page and labels reach across elements. */
export class PlainElement extends LitElement {
  private drawings = 0;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Shows a sentence in place of data that cannot be drawn, until the next successful update. */
  protected override performUpdate(): void {
    const before = this.drawings;
    try {
      super.performUpdate();
    } catch (error) {
      reportError(error);
      // The drawing succeeded; something after it failed, such as moving the focus.
      if (this.drawings > before) return;
      this.sayUndrawn();
    }
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    this.drawings += 1;
  }

  protected sayUndrawn(): void {
    const sentence = t('This view received data that it cannot show. Close this editor and open it again.');
    render(html`<p class="undrawn" role="alert">${sentence}</p>`, this.renderRoot, this.renderOptions);
  }
}
