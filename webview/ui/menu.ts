import './menu.css';
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { ifDefined } from 'lit/directives/if-defined.js';
import { t } from '../language';
import { icon } from '.';
import { keyName } from './keyName';

export interface MenuItem {
  readonly label: string;
  readonly onPress: () => void;
  /** As in `aria-keyshortcuts`. */
  readonly key?: string;
  readonly title?: string;
}

/** ⋯ with a menu above it, by the ARIA pattern of a menu button. */
@customElement('tandem-menu')
export class MenuElement extends LitElement {
  @property({ attribute: false }) items: readonly MenuItem[] = [];
  @state() private isOpen = false;

  constructor() {
    super();
    this.addEventListener('keydown', (event) => this.keyed(event));
    this.addEventListener('focusout', ({ relatedTarget }) => {
      if (!this.contains(relatedTarget as Node | null)) this.isOpen = false;
    });
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override render(): TemplateResult {
    const label = t('More actions');
    return html`<button
        type="button"
        class="icon"
        title=${label}
        aria-label=${label}
        aria-haspopup="menu"
        aria-expanded=${this.isOpen}
        @click=${() => (this.isOpen ? this.close() : void this.open(0))}
      >
        ${icon('ellipsis')}
      </button>
      ${
        this.isOpen
          ? html`<div role="menu" aria-label=${label}>${this.items.map((item) => this.item(item))}</div>`
          : nothing
      }`;
  }

  private item({ label, key, title, onPress }: MenuItem): TemplateResult {
    return html`<button
      type="button"
      role="menuitem"
      tabindex="-1"
      title=${ifDefined(title)}
      aria-keyshortcuts=${ifDefined(key)}
      @click=${() => {
        this.close();
        onPress();
      }}
    >
      <span>${label}</span>${
        key === undefined ? nothing : html`<span class="key" aria-hidden="true">${keyName(key)}</span>`
      }
    </button>`;
  }

  private get drawn(): HTMLElement[] {
    return [...this.querySelectorAll<HTMLElement>('[role="menuitem"]')];
  }

  /** @param first index of the item that gets the focus; negative from the end */
  private async open(first: number): Promise<void> {
    this.isOpen = true;
    await this.updateComplete;
    this.drawn.at(first)?.focus();
  }

  private close(): void {
    this.querySelector('button')?.focus();
    this.isOpen = false;
  }

  private keyed(event: KeyboardEvent): void {
    const { drawn } = this;
    const at = drawn.findIndex((item) => item === document.activeElement);
    const moves: Partial<Record<string, number>> = {
      ArrowDown: at + 1 === drawn.length ? 0 : at + 1,
      ArrowUp: at === -1 ? -1 : at - 1,
      ...(this.isOpen && { Home: 0, End: -1 }),
    };
    const to = moves[event.key];
    if (to !== undefined) void this.open(to);
    else if (this.isOpen && event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
    // Escape would also stop what is under way.
    event.stopPropagation();
  }
}
