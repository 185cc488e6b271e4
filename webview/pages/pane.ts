import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { fillFrame } from './frame';
import { partsOf, type Part, type Place } from './places';
import type { Pin } from './protocol';

/** A page in its frame, under a layer that takes the pointer and has the pins. */
@customElement('tandem-page-pane')
export class PagePane extends PlainElement {
  @property({ attribute: false }) name = '';
  /** Cleaned HTML; empty while it need not be drawn. */
  @property({ attribute: false }) page = '';
  /** Of the window that the page is drawn for, in CSS pixels. */
  @property({ attribute: false }) width = 0;
  @property({ attribute: false }) scale = 1;
  /** Of the page and of the room for it, in the page's pixels: the room is as high as the higher page. */
  @property({ attribute: false }) height = 0;
  @property({ attribute: false }) roomHeight = 0;
  /** With their numbers. */
  @property({ attribute: false }) pins: readonly (readonly [number, Pin])[] = [];
  @property({ attribute: false }) marked: Part | undefined;
  @property({ attribute: false }) onHeight!: (height: number) => void;
  /** Absent where pins are only shown. */
  @property({ attribute: false }) onPlace?: (place: Place) => void;
  private filled = '';

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    // A frame that leaves the document loses its page.
    this.filled = '';
    super.disconnectedCallback();
  }

  override render(): TemplateResult {
    const { name, width, height, roomHeight, scale } = this;
    return html`<div class="paper-scroll" tabindex="0" role="group" aria-label=${name}>
      <div class="paper" .style=${`width:${width * scale}px;height:${roomHeight * scale}px`}>
        <iframe title=${name} sandbox="allow-same-origin" tabindex="-1" inert scrolling="no"></iframe>
        <div
          class="pointer-layer ${this.onPlace === undefined ? '' : 'can-pin'}"
          .style=${`height:${height * scale}px`}
          @click=${(event: MouseEvent) => this.place(event)}
        >
          ${this.mark()} ${this.pins.map(([number, pin]) => pinMark(number, pin))}
        </div>
      </div>
    </div>`;
  }

  override updated(changed: PropertyValues): void {
    const frame = this.querySelector('iframe')!;
    frame.style.transform = `scale(${this.scale})`;
    void this.fill(frame);
    if (changed.has('marked') && this.marked !== undefined) this.showPart(this.marked);
  }

  /** The parts of the page that can be pointed at. */
  get parts(): Part[] {
    const page = this.querySelector('iframe')?.contentDocument;
    return page == null || this.height === 0 ? [] : partsOf(page, this.width, this.height);
  }

  private async fill(frame: HTMLIFrameElement): Promise<void> {
    const { page, width } = this;
    const content = `${width} ${page}`;
    if (page === '' || content === this.filled) return;
    this.filled = content;
    const height = await fillFrame(frame, page, width);
    // Another page, or another width, may have taken its place meanwhile.
    if (this.filled === content) this.onHeight(height);
  }

  private mark(): TemplateResult | typeof nothing {
    if (this.marked === undefined) return nothing;
    const [left, top, width, height] = (['x', 'y', 'width', 'height'] as const).map(
      (side) => `${this.marked![side] * 100}%`,
    );
    const style = `left:${left};top:${top};width:${width};height:${height}`;
    return html`<span class="marked-part" .style=${style}></span>`;
  }

  private showPart({ y }: Part): void {
    const scroll = this.querySelector('.paper-scroll')!;
    scroll.scrollTo({ top: y * this.height * this.scale - scroll.clientHeight / 3 });
  }

  private place(event: MouseEvent): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    this.onPlace?.({
      x: (event.clientX - box.x) / box.width,
      y: (event.clientY - box.y) / box.height,
    });
  }
}

/** Fraction of the width from which a mark is to the left of its place. */
const RIGHT_EDGE = 0.95;

/** The number of a pin on its page. */
function pinMark(number: number, { x, y, words }: Pin): TemplateResult {
  return html`<span
    class="pin ${x > RIGHT_EDGE ? 'before' : ''}"
    title=${withVisibleControls(words)}
    .style=${`left:${x * 100}%;top:${y * 100}%`}
    >${number}</span
  >`;
}
