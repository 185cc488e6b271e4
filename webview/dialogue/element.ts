import { html, LitElement, render, type PropertyValues } from 'lit';
import { t } from '../language';

/** An element says so to those around it when it can no longer draw what it has. */
export const UNDRAWN = 'tandem-undrawn';

/** An element without a shadow root: one style sheet for the view, and labels that reach across elements. */
export class PlainElement extends LitElement {
  /** How often something was drawn. */
  private drawings = 0;
  private isUndrawn = false;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** What cannot be drawn becomes a sentence in its place, until there is something else to draw. */
  protected override performUpdate(): void {
    const before = this.drawings;
    try {
      super.performUpdate();
    } catch (error) {
      reportError(error);
      // What failed may have come after that, such as moving the focus.
      if (this.drawings > before) return;
      this.sayUndrawn();
      if (!this.isUndrawn) this.dispatchEvent(new Event(UNDRAWN, { bubbles: true }));
      this.isUndrawn = true;
    }
  }

  protected override update(changed: PropertyValues): void {
    super.update(changed);
    this.drawings += 1;
    this.isUndrawn = false;
  }

  protected sayUndrawn(): void {
    const sentence = t('This view received data that it cannot show. Close this editor and open it again.');
    render(html`<p class="undrawn" role="alert">${sentence}</p>`, this.renderRoot, this.renderOptions);
  }
}
