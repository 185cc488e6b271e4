/** The window that pages are drawn for, as high as the renderer's (`PAGE_WINDOW`). */
const WINDOW_HEIGHT = 682;

/**
 * Writes a cleaned page into a frame and lays it out as the renderer does: for a window of 682 pixels, whatever the
 * frame's height. `srcdoc` would draw the page in standards mode.
 * @param frame sandboxed, with `allow-same-origin`, never with `allow-scripts`: a written page has this page's address
 * @param html cleaned by the host
 * @param width of the window in CSS pixels
 * @returns the content's height in CSS pixels, which the frame gets
 */
export function fillFrame(frame: HTMLIFrameElement, html: string, width: number): number {
  frame.style.width = `${width}px`;
  frame.style.height = `${WINDOW_HEIGHT}px`;
  const page = frame.contentDocument!;
  page.open();
  page.write(withNonce(html));
  page.close();
  keepWindow(page, width);
  const height = heightOf(page);
  frame.style.height = `${height}px`;
  return height;
}

/**
 * The page's security policy lets only style elements with its nonce through, in frames too. Unquoted, so that nothing
 * ends where an attribute's value holds the same characters.
 */
function withNonce(html: string): string {
  const nonce = document.querySelector('meta[property="csp-nonce"]')?.getAttribute('content');
  return nonce == null ? html : html.replace(/<style(?=[\s>])/g, `<style nonce=${nonce}`);
}

/** Makes heights relative to the window independent of the frame's height. */
function keepWindow(page: Document, width: number): void {
  const styled = [...page.querySelectorAll<HTMLElement>('[style]')].map(({ style }) => style);
  const ofSheets = [...page.styleSheets].flatMap((sheet) => stylesOf(sheet.cssRules));
  for (const style of [...styled, ...ofSheets]) withoutWindowUnits(style, width);
  const root = page.documentElement;
  const computed = root.computedStyleMap();
  for (const property of ['height', 'min-height', 'max-height']) {
    const value = computed.get(property);
    if (value instanceof CSSUnitValue && value.unit === 'percent')
      root.style.setProperty(property, `${(WINDOW_HEIGHT * value.value) / 100}px`, 'important');
  }
  if (page.compatMode === 'CSS1Compat') return;
  // In quirks mode the root is as high as the window, and percentages of the body's children are of that height.
  if (computed.get('height')?.toString() === 'auto') root.style.setProperty('height', `${WINDOW_HEIGHT}px`);
}

const stylesOf = (rules: CSSRuleList): CSSStyleDeclaration[] =>
  [...rules].flatMap((rule) => {
    const inside = 'cssRules' in rule ? stylesOf(rule.cssRules as CSSRuleList) : [];
    return 'style' in rule ? [rule.style as CSSStyleDeclaration, ...inside] : inside;
  });

const WINDOW_UNIT = /(-?\d*\.?\d+)[dsl]?v(h|b|min|max)\b/gi;

function withoutWindowUnits(style: CSSStyleDeclaration, width: number): void {
  if (!style.cssText.includes('v')) return;
  const sides: Record<string, number> = {
    min: Math.min(width, WINDOW_HEIGHT),
    max: Math.max(width, WINDOW_HEIGHT),
  };
  for (const property of [...style]) {
    const value = style.getPropertyValue(property);
    const inPixels = value.replace(
      WINDOW_UNIT,
      (_, count: string, unit: string) =>
        `${(Number(count) * (sides[unit.toLowerCase()] ?? WINDOW_HEIGHT)) / 100}px`,
    );
    if (inPixels !== value) style.setProperty(property, inPixels, style.getPropertyPriority(property));
  }
}

/** As `Outline.height`: the lowest edge of what is inside the body, which itself may be as high as the window. */
function heightOf(page: Document): number {
  const range = page.createRange();
  let height = 1;
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    range.selectNode(node);
    const of = node.nodeType === Node.ELEMENT_NODE ? (node as Element) : range;
    height = Math.max(height, of.getBoundingClientRect().bottom);
  }
  return Math.ceil(height);
}
