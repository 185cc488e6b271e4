import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/untrusted';
import { t } from '../language';
import { iconButton } from '../ui';
import { inlineSelect } from '../ui/inline';
import './pages.css';
import { fillFrame } from './frame';
import './partList';
import { partsOf, placeWords, type Part } from './places';
import { pinned, type PageView, type Pin, type Pinned } from './protocol';

const views = ['side', 'slider', 'difference', 'blink'] as const;
type View = (typeof views)[number];

const WIDTHS = ['1366', '768', '390'] as const;
const ZOOMS = ['fit', '0.5', '1'] as const;

const BLINK_MS = 800;
/** Width in pixels of the element below which two pages side by side cannot be read. */
const MIN_SIDE_WIDTH = 560;

/**
 * Two pages to be compared: a draft and the wanted page, or two candidates. Either may be absent. The frames never
 * take the focus or the pointer, because keys pressed in a frame do not reach the page around it.
 */
@customElement('tandem-pages')
export class PagesElement extends PlainElement {
  @property({ attribute: false }) draft: PageView | undefined;
  @property({ attribute: false }) wanted: PageView | undefined;
  /** Of the two pages, as captions. */
  @property({ attribute: false }) names: readonly [string, string] = [t('Draft'), t('Wanted page')];
  @property({ attribute: false }) pins: readonly Pin[] = [];
  /** Absent where pins are only shown. */
  @property({ attribute: false }) onPins?: (pins: readonly Pin[]) => void;
  @state() private view: View | undefined;
  @state() private width: (typeof WIDTHS)[number] = '1366';
  @state() private zoom: (typeof ZOOMS)[number] = 'fit';
  @state() private slider = 50;
  @state() private isSecondShown = false;
  @state() private isBlinking = false;
  /** Of each page, in its own pixels. */
  @state() private heights: readonly [number, number] = [0, 0];
  /** Room for a page in a pane. */
  @state() private room = 0;
  @state() private isNarrow = false;
  @state() private marked: (Part & { readonly of: Pinned }) | undefined;
  private isSeen = false;
  private readonly filled: [string, string] = ['', ''];
  private blinking: number | undefined;
  private readonly sizes = new ResizeObserver(() => this.measure());
  private readonly sight = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.isSeen = true;
      this.sight.disconnect();
      this.fill();
    },
    { rootMargin: '50%' },
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.sizes.observe(this);
    // A long dialogue has many pages, of which few are seen.
    this.sight.observe(this);
  }

  override disconnectedCallback(): void {
    this.sizes.disconnect();
    this.sight.disconnect();
    this.blink(false);
    // A frame that leaves the document loses its page.
    this.filled.fill('');
    super.disconnectedCallback();
  }

  override render(): TemplateResult {
    const shown = this.shownView;
    const isPair = this.draft !== undefined && this.wanted !== undefined;
    return html`<div
      class="pages ${shown} ${isPair ? 'pair-of-pages' : ''} ${this.isNarrow ? 'narrow' : ''}"
      role="group"
      aria-label=${t('Pages')}
    >
      ${this.tools(isPair, shown)}
      <div class="panes">
        ${pinned.map((of, place) => this.pane(of, place as 0 | 1))}
        ${shown === 'slider' ? html`<div class="divider" .style=${`left:${this.slider}%`}></div>` : nothing}
      </div>
      ${this.onPins === undefined ? nothing : this.partList()} ${this.pinList()}
    </div>`;
  }

  private get shownView(): View {
    if (this.draft === undefined || this.wanted === undefined) return 'side';
    return this.view ?? (this.isNarrow ? 'slider' : 'side');
  }

  private tools(isPair: boolean, shown: View): TemplateResult {
    const labels: Record<View, string> = {
      side: t('Side by side'),
      slider: t('Slider'),
      difference: t('Difference'),
      blink: t('Blink'),
    };
    const zooms = { fit: t('Fit'), '0.5': t('50 %'), '1': t('100 %') };
    return html`<div class="page-tools">
      ${
        isPair
          ? html`<div class="views" role="group" aria-label=${t('View')}>
              ${views.map(
                (view) =>
                  html`<button type="button" aria-pressed=${view === shown} @click=${() => this.show(view)}>
                    ${labels[view]}
                  </button>`,
              )}
            </div>`
          : nothing
      }
      ${inlineSelect(
        t('Zoom'),
        ZOOMS.map((value) => ({ value, label: zooms[value] })),
        this.zoom,
        (value) => (this.zoom = value as typeof this.zoom),
      )}
      ${inlineSelect(
        t('Width'),
        WIDTHS.map((value) => ({ value, label: t('{0} px', value) })),
        this.width,
        (value) => (this.width = value as typeof this.width),
      )}
      ${this.viewTools(shown)}
    </div>`;
  }

  private viewTools(shown: View): TemplateResult | typeof nothing {
    const [first, second] = this.names;
    switch (shown) {
      case 'side':
        return nothing;
      case 'slider':
        return html`<label class="slide">
          <span>${first}</span>
          <input
            type="range"
            min="0"
            max="100"
            aria-label=${t('{0} to the left of here, {1} to the right', first, second)}
            .value=${String(this.slider)}
            @input=${(event: Event) => (this.slider = Number((event.target as HTMLInputElement).value))}
          />
          <span>${second}</span>
        </label>`;
      case 'difference':
        return html`<span class="quiet">${t('Black where both look the same')}</span>`;
      case 'blink':
        return html`${iconButton({
            icon: this.isBlinking ? 'debug-pause' : 'play',
            label: this.isBlinking ? t('Stop blinking') : t('Blink'),
            onPress: () => this.blink(!this.isBlinking),
          })}
          <button type="button" class="link" @click=${() => (this.isSecondShown = !this.isSecondShown)}>
            ${t('Show the other page')}
          </button>
          <strong>${this.names[this.isSecondShown ? 1 : 0]}</strong>`;
    }
  }

  private show(view: View): void {
    this.view = view;
    this.blink(view === 'blink' && !isReducedMotion());
  }

  private blink(isOn: boolean): void {
    window.clearInterval(this.blinking);
    this.isBlinking = isOn;
    if (isOn) this.blinking = window.setInterval(() => (this.isSecondShown = !this.isSecondShown), BLINK_MS);
  }

  private pane(of: Pinned, place: 0 | 1): TemplateResult | typeof nothing {
    const page = this[of];
    if (page === undefined) return nothing;
    const name = this.names[place];
    if ('problem' in page) {
      return html`<figure class="page of-${of}">
        <figcaption>${name}</figcaption>
        <p class="quiet">${withVisibleControls(page.problem)}</p>
      </figure>`;
    }
    const zoom = this.scale;
    const width = Number(this.width);
    // Both are as high as the higher one, so that they scroll alike.
    const size = `width:${width * zoom}px;height:${Math.max(...this.heights) * zoom}px`;
    return html`<figure class="page of-${of}" .style=${this.styleOf(place)}>
      <figcaption>${name}</figcaption>
      <div
        class="paper-scroll"
        tabindex="0"
        role="region"
        aria-label=${name}
        @scroll=${(event: Event) => this.scrollBoth(event)}
      >
        <div class="paper" .style=${size}>
          <iframe title=${name} sandbox="allow-same-origin" tabindex="-1" inert scrolling="no"></iframe>
          <div
            class="pointer-layer ${this.onPins === undefined ? '' : 'can-pin'}"
            @click=${(event: MouseEvent) => this.pinAt(event, of, place)}
          >
            ${this.markOf(of, place)} ${this.pinsOn(of, place)}
          </div>
        </div>
      </div>
    </figure>`;
  }

  private styleOf(place: 0 | 1): string {
    if (place === 0) return '';
    if (this.shownView === 'slider') return `clip-path:inset(0 0 0 ${this.slider}%)`;
    return this.shownView === 'blink' && !this.isSecondShown ? 'visibility:hidden' : '';
  }

  private get scale(): number {
    return this.zoom === 'fit' ? Math.min(1, this.room / Number(this.width)) : Number(this.zoom);
  }

  private scrollBoth({ target }: Event): void {
    const { scrollTop, scrollLeft } = target as HTMLElement;
    for (const pane of this.querySelectorAll('.paper-scroll'))
      if (pane !== target) pane.scrollTo(scrollLeft, scrollTop);
  }

  // Pins -------------------------------------------------------------------------------------------------------

  private pinsOn(of: Pinned, place: 0 | 1): TemplateResult[] {
    return this.pins.flatMap((pin, index) =>
      pin.of === of
        ? [
            html`<span class="pin" title=${withVisibleControls(pin.words)} .style=${this.at(pin, place)}
              >${index + 1}</span
            >`,
          ]
        : [],
    );
  }

  private markOf(of: Pinned, place: 0 | 1): TemplateResult | typeof nothing {
    const { marked } = this;
    if (marked?.of !== of) return nothing;
    const height = this.heights[place] * this.scale;
    return html`<span
      class="marked-part"
      .style=${`${this.at(marked, place)};width:${marked.width * 100}%;height:${marked.height * height}px`}
    ></span>`;
  }

  private at({ x, y }: { readonly x: number; readonly y: number }, place: 0 | 1): string {
    return `left:${x * 100}%;top:${y * this.heights[place] * this.scale}px`;
  }

  private pinAt(event: MouseEvent, of: Pinned, place: 0 | 1): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const x = (event.clientX - box.x) / box.width;
    const y = (event.clientY - box.y) / (this.heights[place] * this.scale);
    // Below a page that is the lower one of the two there is nothing to point at.
    if (y <= 1) this.add({ of, x, y, words: placeWords({ x, y }, this.partsIn(of)) });
  }

  private add(pin: Pin): void {
    this.onPins?.([...this.pins, pin]);
  }

  private partsIn(of: Pinned): Part[] {
    const page = this.frameOf(of)?.contentDocument;
    if (page == null || this[of] === undefined) return [];
    return partsOf(page, Number(this.width), this.heights[pinned.indexOf(of) as 0 | 1]);
  }

  private partList(): TemplateResult {
    return html`<tandem-part-list
      .names=${this.names}
      .pages=${pinned.filter((of) => this[of] !== undefined && 'html' in this[of])}
      .partsIn=${(of: Pinned) => this.partsIn(of)}
      .onMark=${(marked: typeof this.marked) => this.mark(marked)}
      .onPin=${(pin: Pin) => this.add(pin)}
    ></tandem-part-list>`;
  }

  private mark(marked: typeof this.marked): void {
    this.marked = marked;
    if (marked === undefined) return;
    const place = pinned.indexOf(marked.of) as 0 | 1;
    const pane = this.frameOf(marked.of)?.closest('.paper-scroll');
    pane?.scrollTo({ top: marked.y * this.heights[place] * this.scale - pane.clientHeight / 3 });
  }

  private pinList(): TemplateResult | typeof nothing {
    const { pins, onPins } = this;
    if (pins.length === 0) return nothing;
    return html`<ol class="pins" aria-label=${t('Pins')}>
      ${pins.map(
        (pin, index) =>
          html`<li>
            ${withVisibleControls(pin.words)}
            <span class="quiet">${this.names[pinned.indexOf(pin.of)]}</span>
            ${
              onPins === undefined
                ? nothing
                : iconButton({
                    icon: 'close',
                    label: t('Remove pin {0}', index + 1),
                    onPress: () => onPins(pins.toSpliced(index, 1)),
                  })
            }
          </li>`,
      )}
    </ol>`;
  }

  // Frames -----------------------------------------------------------------------------------------------------

  override updated(changed: PropertyValues): void {
    this.measure();
    if (changed.has('width')) this.filled.fill('');
    this.fill();
    // The other page is scrolled to the same place, also when it was absent before.
    for (const frame of this.querySelectorAll('iframe')) frame.style.transform = `scale(${this.scale})`;
  }

  private frameOf(of: Pinned): HTMLIFrameElement | null {
    return this.querySelector(`.of-${of} iframe`);
  }

  private measure(): void {
    this.isNarrow = this.clientWidth > 0 && this.clientWidth < MIN_SIDE_WIDTH;
    // The scroll bar of a high page takes its room from the page.
    this.room = this.querySelector('.paper-scroll')?.clientWidth ?? this.room;
  }

  /** Writes pages that are new, once they are seen. */
  private fill(): void {
    if (!this.isSeen) return;
    const heights: [number, number] = [0, 0];
    for (const [place, of] of pinned.entries()) {
      const page = this[of];
      const frame = this.frameOf(of);
      if (frame === null || page === undefined || 'problem' in page) {
        this.filled[place] = '';
        continue;
      }
      const isNew = this.filled[place] !== page.html || frame.contentDocument?.body.childNodes.length === 0;
      heights[place] = isNew ? fillFrame(frame, page.html, Number(this.width)) : this.heights[place as 0 | 1];
      this.filled[place] = page.html;
    }
    if (heights.some((height, place) => height !== this.heights[place])) this.heights = heights;
  }
}

const isReducedMotion = (): boolean =>
  document.body.classList.contains('vscode-reduce-motion') ||
  window.matchMedia('(prefers-reduced-motion: reduce)').matches;
