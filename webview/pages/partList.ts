import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { inlineSelect } from '../ui';
import { partWords, type Part } from './places';
import { pinned, type Pin, type Pinned } from './protocol';

/** Pins by keyboard: the parts of a page as a list, of which the active one is marked on the page. */
@customElement('tandem-part-list')
export class PartList extends PlainElement {
  @property({ attribute: false }) names!: readonly [string, string];
  /** Those that are drawn. */
  @property({ attribute: false }) pages: readonly Pinned[] = [];
  @property({ attribute: false }) partsIn!: (of: Pinned) => readonly Part[];
  @property({ attribute: false }) onMark!: (part: (Part & { readonly of: Pinned }) | undefined) => void;
  @property({ attribute: false }) onPin!: (pin: Pin) => void;
  @state() private isOpen = false;
  @state() private of: Pinned = 'draft';
  @state() private active = 0;
  @state() private parts: readonly Part[] = [];

  override render(): TemplateResult | typeof nothing {
    if (this.pages.length === 0) return nothing;
    return html`<details
      class="part-list"
      ?open=${this.isOpen}
      @toggle=${(event: Event) => this.toggle(event)}
    >
      <summary>${t('Pin a part of the page…')}</summary>
      ${inlineSelect(
        t('Page'),
        this.pages.map((of) => ({ value: of, label: this.names[pinned.indexOf(of)]! })),
        this.of,
        (of) => this.list(of as Pinned),
      )}
      <ul
        role="listbox"
        tabindex="0"
        aria-label=${t('Parts of the page; Enter pins one')}
        aria-activedescendant=${`part-${this.active}`}
        @keydown=${(event: KeyboardEvent) => this.press(event)}
        @focus=${() => this.activate(this.active)}
        @blur=${() => this.onMark(undefined)}
      >
        ${this.parts.map(
          (part, index) =>
            html`<li
              id=${`part-${index}`}
              role="option"
              aria-selected=${index === this.active}
              @click=${() => this.pin(index)}
            >
              ${withVisibleControls(partWords(part))}
            </li>`,
        )}
      </ul>
    </details>`;
  }

  private toggle({ target }: Event): void {
    this.isOpen = (target as HTMLDetailsElement).open;
    if (this.isOpen) this.list(this.pages.includes(this.of) ? this.of : this.pages[0]!);
    else this.onMark(undefined);
  }

  private list(of: Pinned): void {
    this.of = of;
    this.parts = this.partsIn(of);
    this.active = 0;
  }

  private press(event: KeyboardEvent): void {
    const last = this.parts.length - 1;
    const to = {
      ArrowDown: Math.min(last, this.active + 1),
      ArrowUp: Math.max(0, this.active - 1),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) this.activate(to);
    else if (event.key === 'Enter' || event.key === ' ') this.pin(this.active);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private activate(index: number): void {
    this.active = index;
    const part = this.parts[index];
    this.onMark(part && { ...part, of: this.of });
    void this.updateComplete.then(() =>
      this.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }),
    );
  }

  private pin(index: number): void {
    const part = this.parts[index];
    if (part === undefined) return;
    this.onPin({ of: this.of, ...part.point, words: partWords(part) });
  }
}
