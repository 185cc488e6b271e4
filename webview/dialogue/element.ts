import { LitElement } from 'lit';

/** An element without a shadow root: one style sheet for the view, and labels that reach across elements. */
export class PlainElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
