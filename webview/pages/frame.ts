/** The window that pages are drawn for, as high as the renderer's (`PAGE_WINDOW`). */
const WINDOW_HEIGHT = 682;

/**
 * Writes a cleaned page into a frame and lays it out as the renderer does: for a window of 682 pixels, whatever the
 * frame's height. `srcdoc` would draw the page in standards mode.
 * @param frame sandboxed, with `allow-same-origin`, never with `allow-scripts`: a written page has this page's address
 * @param html cleaned by the host
 * @param width of the window in CSS pixels
 * @returns the content's height in CSS pixels; the frame is as high, and at least as the window
 */
export async function fillFrame(frame: HTMLIFrameElement, html: string, width: number): Promise<number> {
  frame.style.width = `${width}px`;
  frame.style.height = `${WINDOW_HEIGHT}px`;
  const page = frame.contentDocument!;
  // Pictures have no size before they are read, data URLs too.
  const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  page.open();
  // oxlint-disable-next-line typescript/no-deprecated -- Nothing else parses a document in quirks mode into a frame.
  page.write(withNonce(html));
  page.close();
  await loaded;
  const layout = layoutOf(page);
  if (layout.height <= WINDOW_HEIGHT) return layout.height;
  const rootHeight = page.documentElement.getBoundingClientRect().height;
  withoutWindow(page, width);
  frame.style.height = `${layout.height}px`;
  // A background is placed in the root, and percentages are of the window: the root's own height wins where both agree.
  for (const height of ['auto', `${rootHeight}px`, `${WINDOW_HEIGHT}px`]) {
    page.documentElement.style.setProperty('height', height, 'important');
    if (layoutOf(page).boxes === layout.boxes) break;
  }
  return layout.height;
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
function withoutWindow(page: Document, width: number): void {
  const styled = [...page.querySelectorAll<HTMLElement>('[style]')].map(({ style }) => style);
  const ofSheets = [...page.styleSheets].flatMap((sheet) => stylesOf(sheet.cssRules));
  for (const style of [...styled, ...ofSheets]) withoutWindowUnits(style, width);
  // What is placed in the window is placed in the root.
  page.documentElement.style.setProperty('transform', 'translate(0)');
}

const stylesOf = (rules: CSSRuleList): CSSStyleDeclaration[] =>
  [...rules].flatMap((rule) => {
    const inside = 'cssRules' in rule ? stylesOf(rule.cssRules as CSSRuleList) : [];
    return 'style' in rule ? [rule.style as CSSStyleDeclaration, ...inside] : inside;
  });

const WINDOW_UNIT = /(-?(?:\d{1,6}(?:\.\d{1,6})?|\.\d{1,6}))[dsl]?v(h|b|min|max)\b/gi;

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

interface Layout {
  /** As `Outline.height`: the lowest edge of what is inside the body, which itself may be as high as the window. */
  readonly height: number;
  /** Where every element is. */
  readonly boxes: string;
}

function layoutOf(page: Document): Layout {
  const range = page.createRange();
  const boxes: string[] = [];
  let height = 1;
  const walker = page.createTreeWalker(page.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    range.selectNode(node);
    const of = node.nodeType === Node.ELEMENT_NODE ? (node as Element) : range;
    const { x, y, width, height: own } = of.getBoundingClientRect();
    height = Math.max(height, y + own);
    boxes.push([x, y, width, own].join(' '));
  }
  return { height: Math.ceil(height), boxes: boxes.join('\n') };
}
