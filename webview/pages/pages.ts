import { html, nothing, type TemplateResult } from 'lit';
import { customElement, property, state } from 'lit/decorators.js';
import { PlainElement } from '../dialogue/element';
import { withVisibleControls } from '../dialogue/protocol';
import { t } from '../language';
import { iconButton, inlineSelect } from '../ui';
import './pages.css';
import './pane';
import type { PagePane } from './pane';
import './partList';
import { placeWords, type Part, type Place } from './places';
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
  @state() private heights: readonly number[] = [0, 0];
  /** Room for a page in a pane. */
  @state() private room = 0;
  @state() private isNarrow = false;
  /** A long dialogue has many pages, of which few are seen. */
  @state() private isSeen = false;
  @state() private marked: (Part & { readonly of: Pinned }) | undefined;
  private blinking: number | undefined;
  /** Scrolling does not bubble. */
  private readonly scrolling = { handleEvent: (event: Event) => this.scrollBoth(event), capture: true };
  private readonly sizes = new ResizeObserver(() => this.measure());
  private readonly sight = new IntersectionObserver(
    (entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      this.isSeen = true;
      this.sight.disconnect();
    },
    { rootMargin: '50%' },
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.sizes.observe(this);
    this.sight.observe(this);
  }

  override disconnectedCallback(): void {
    this.sizes.disconnect();
    this.sight.disconnect();
    this.blink(false);
    super.disconnectedCallback();
  }

  override render(): TemplateResult {
    const shown = this.shownView;
    const isPair = this.draft !== undefined && this.wanted !== undefined;
    return html`<div
      class="${shown} ${isPair ? 'pair-of-pages' : ''} ${this.isNarrow ? 'narrow' : ''}"
      role="group"
      aria-label=${t('Pages')}
    >
      ${this.tools(isPair, shown)}
      <div class="panes" @scroll=${this.scrolling}>
        ${pinned.map((of, place) => this.pane(of, place as 0 | 1))}
        ${shown === 'slider' ? html`<div class="divider" .style=${`left:${this.slider}%`}></div>` : nothing}
      </div>
      ${this.onPins === undefined ? nothing : this.partList()} ${pinList(this.pins, this.names, this.onPins)}
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
            label: this.isBlinking ? t('Stop blinking') : t('Start blinking'),
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
    return html`<figure class="page of-${of}" .style=${this.styleOf(place)}>
      <figcaption>${name}</figcaption>
      ${
        'problem' in page
          ? html`<p class="quiet">${withVisibleControls(page.problem)}</p>`
          : html`<tandem-page-pane
              .name=${name}
              .page=${this.isSeen ? page.html : ''}
              .width=${Number(this.width)}
              .scale=${this.scale}
              .height=${this.heights[place]!}
              .roomHeight=${Math.max(...this.drawn.map((one) => this.heights[pinned.indexOf(one)]!))}
              .pins=${this.pins.flatMap((pin, index) => (pin.of === of ? [[index + 1, pin] as const] : []))}
              .marked=${this.marked?.of === of ? this.marked : undefined}
              .onHeight=${(height: number) => (this.heights = this.heights.with(place, height))}
              .onPlace=${this.onPins && ((at: Place) => this.add({ of, ...at, words: placeWords(at, this.partsIn(of)) }))}
            ></tandem-page-pane>`
      }
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

  private get drawn(): Pinned[] {
    return pinned.filter((of) => this[of] !== undefined && 'html' in this[of]);
  }

  private scrollBoth({ target }: Event): void {
    const { scrollTop, scrollLeft } = target as HTMLElement;
    for (const pane of this.querySelectorAll('.paper-scroll'))
      if (pane !== target) pane.scrollTo(scrollLeft, scrollTop);
  }

  private add(pin: Pin): void {
    this.onPins?.([...this.pins, pin]);
  }

  private partsIn(of: Pinned): Part[] {
    return this.querySelector<PagePane>(`.of-${of} tandem-page-pane`)?.parts ?? [];
  }

  private partList(): TemplateResult {
    return html`<tandem-part-list
      .names=${this.names}
      .pages=${this.drawn}
      .partsIn=${(of: Pinned) => this.partsIn(of)}
      .onMark=${(marked: typeof this.marked) => (this.marked = marked)}
      .onPin=${(pin: Pin) => this.add(pin)}
    ></tandem-part-list>`;
  }

  override updated(): void {
    this.measure();
  }

  private measure(): void {
    this.isNarrow = this.clientWidth > 0 && this.clientWidth < MIN_SIDE_WIDTH;
    // The scroll bar of a high page takes its room from the page.
    this.room = this.querySelector('.paper-scroll')?.clientWidth ?? this.room;
  }
}

const isReducedMotion = (): boolean =>
  document.body.classList.contains('vscode-reduce-motion') ||
  window.matchMedia('(prefers-reduced-motion: reduce)').matches;

/** @param onPins absent where pins are only shown */
function pinList(
  pins: readonly Pin[],
  names: readonly [string, string],
  onPins: ((pins: readonly Pin[]) => void) | undefined,
): TemplateResult | typeof nothing {
  if (pins.length === 0) return nothing;
  return html`<ol class="pins" aria-label=${t('Pins')}>
    ${pins.map(
      (pin, index) =>
        html`<li>
          ${withVisibleControls(pin.words)}
          <span class="quiet">${names[pinned.indexOf(pin.of)]}</span>
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
