import { fillFrame } from '../pages/frame';
import type { LaidOutNode } from './protocol';

/** The window of the published pictures, as the renderer has it (`PAGE_WINDOW`). */
const WIDTH = 1366;

/**
 * Lays a page out in a frame that nobody sees, as a browser of the machine would.
 * @param cleaned HTML, made safe by the host
 */
export async function layOut(cleaned: string): Promise<LaidOutNode[]> {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.className = 'layout-frame';
  frame.tabIndex = -1;
  frame.inert = true;
  frame.setAttribute('aria-hidden', 'true');
  document.body.append(frame);
  try {
    await fillFrame(frame, cleaned, WIDTH);
    return nodesOf(frame.contentDocument!);
  } finally {
    frame.remove();
  }
}

/** `Chrome/142.0.7444.59` */
export const browserOf = ({ userAgent }: Pick<Navigator, 'userAgent'>): string =>
  /(?:Edg|Chrome|Firefox|Version)\/[\d.]+/.exec(userAgent)?.[0] ?? 'unknown';

/** What has a box, by parents that have one; such as `display: contents` is left out. */
function nodesOf(page: Document): LaidOutNode[] {
  const window = page.defaultView!;
  const layers = new PaintLayers(page.documentElement, window);
  const nodes: LaidOutNode[] = [];
  const range = page.createRange();
  const open: (readonly [node: Node, parent: number])[] = [[page.documentElement, -1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, parent] = next;
    const element = node instanceof window.Element ? node : node.parentElement!;
    const style = window.getComputedStyle(element);
    if (style.display === 'none') continue;
    range.selectNodeContents(node);
    const drawn = node === element ? element : range;
    const box = drawn.getClientRects().length === 0 ? undefined : drawn.getBoundingClientRect();
    let index = parent;
    if (box !== undefined) {
      index = nodes.length;
      const text = node === element ? fieldText(element, window) : (node.nodeValue ?? '');
      nodes.push({
        tag: node === element ? element.localName : '#text',
        parent,
        box: { x: box.x, y: box.y, width: box.width, height: box.height },
        ...(text !== undefined && { text }),
        ...{ display: node === element ? style.display : 'inline', color: style.color },
        backgroundColor: node === element ? style.backgroundColor : 'rgba(0, 0, 0, 0)',
        ...{ fontSize: style.fontSize, fontWeight: style.fontWeight, visibility: style.visibility },
        opacity: node === element ? style.opacity : '1',
        paintOrder: layers.orderOf(element),
      });
    }
    // The last pushed comes first, so that nodes stand in the order of the source.
    for (const child of [...node.childNodes].reverse()) {
      if (child instanceof window.Element || child instanceof window.Text) open.push([child, index]);
    }
  }
  return nodes;
}

function fieldText(element: Element, window: Window & typeof globalThis): string | undefined {
  if (element instanceof window.HTMLInputElement) return element.value || element.placeholder;
  return undefined;
}

/**
 * The order of painting (CSS 2, appendix E) by layers: within a stacking context those below 0, then what is positioned
 * in the order of the source, then those above.
 */
class PaintLayers {
  private readonly orders = new Map<Element, number>();

  constructor(
    root: Element,
    private readonly window: Window & typeof globalThis,
  ) {
    this.paint(root);
  }

  orderOf(element: Element): number {
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      const order = this.orders.get(at);
      if (order !== undefined) return order;
    }
    return 0;
  }

  private paint(root: Element): void {
    this.orders.set(root, 0);
    const layers: { readonly element: Element; readonly path: readonly number[] }[] = [];
    let place = 0;
    const open: { readonly element: Element; readonly path: readonly number[] }[] = [
      { element: root, path: [] },
    ];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { element, path } = next;
      const zIndex = element === root ? undefined : this.layerOf(element);
      let inside = path;
      if (zIndex !== undefined) {
        place += 1;
        // Own content lies above layers below 0 and below the others.
        const own = [...path, zIndex, place];
        layers.push({ element, path: own });
        inside = own;
      }
      for (const child of [...element.children].reverse()) open.push({ element: child, path: inside });
    }
    layers.push({ element: root, path: [] });
    layers.sort((a, b) => compared(a.path, b.path));
    for (const [order, { element }] of layers.entries()) this.orders.set(element, order);
  }

  /** Its z-index; undefined where it is painted with its parent. */
  private layerOf(element: Element): number | undefined {
    const { position, zIndex, opacity, transform, filter } = this.window.getComputedStyle(element);
    if (zIndex !== 'auto' && position !== 'static') return Number(zIndex);
    const isLayer = position !== 'static' || opacity !== '1' || transform !== 'none' || filter !== 'none';
    return isLayer ? 0 : undefined;
  }
}

/** A context's own content stands where a layer of -0.5 would. */
function compared(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; ; index += 1) {
    const [first, second] = [a[index], b[index]];
    if (first === undefined && second === undefined) return 0;
    const difference = (first ?? -0.5) - (second ?? -0.5);
    if (difference !== 0) return difference;
  }
}
