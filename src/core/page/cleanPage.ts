import {
  defaultTreeAdapter,
  html as namespaces,
  parse,
  serialize,
  type DefaultTreeAdapterTypes,
} from 'parse5';
import { Fault } from '../fault';
import { pictureAt, withoutAddresses } from './styleSheet';
import { tailwindFor } from './tailwind';
import { wordsIn } from '../text';

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

/** Limits of a page. A few kilobytes of unclosed elements otherwise become millions, each copied into the next. */
export const MAX_PAGE_CHARS = 200_000;
export const MAX_PAGE_ELEMENTS = 5000;
/** Depth from which Chromium makes elements siblings; deeper ones are dropped here. */
export const MAX_DEPTH = 500;

/** Elements that run, load, navigate or move. `link` includes preconnect, which no content policy stops. */
const REMOVED: ReadonlySet<string> = new Set(
  wordsIn(`
    script link base meta object embed applet template portal fencedframe
    frame frameset source track bgsound param noembed noframes math
    animate animatemotion animatetransform animatecolor set feimage
  `),
);

/** Inside SVG these hold HTML or raw text, which a second parse may take for other elements than the first one did. */
const REMOVED_IN_SVG: ReadonlySet<string> = new Set(
  wordsIn('foreignobject desc title style xmp iframe noscript plaintext'),
);

const RENAMED: Readonly<Record<string, string>> = {
  marquee: 'div',
  xmp: 'pre',
  plaintext: 'pre',
  listing: 'pre',
};

/** HTML attributes that stay: none of them has an address, runs, or takes the focus. */
const KEPT: ReadonlySet<string> = new Set(
  wordsIn(`
    class style id title alt lang dir role hidden open width height align
    valign bgcolor color face size border cellpadding cellspacing hspace vspace
    nowrap noshade clear rules frame frameborder span colspan rowspan scope start
    reversed compact type value placeholder name for label checked selected disabled
    readonly multiple rows cols wrap min max low high optimum step text link
    alink vlink leftmargin topmargin marginwidth marginheight media controls
  `),
);

/** What moves by itself would make two pictures of one page differ. */
const FROZEN =
  '*,::before,::after{animation:none!important;transition:none!important;caret-color:transparent!important;' +
  'scroll-behavior:auto!important}';

/**
 * Makes a page safe to draw: for the screenshot, for the editor's frame and for the outline alike. Tailwind's sheet is
 * inlined where the page links to it, pictures are placeholders of the size that their address asks for.
 * @param sheet the file of Tailwind's sheet (`media/pages`)
 * @returns a whole document without a script, an address other than `data:` and `#`, or a moving part
 * @throws {Fault} `page/too-large`
 */
export function cleanPage(source: string, sheet: string): string {
  const document = parsePage(source);
  new Cleaner(sheet).clean(document);
  return serialize(document, { scriptingEnabled: false });
}

/** @throws {Fault} `page/too-large` */
export function parsePage(source: string): DefaultTreeAdapterTypes.Document {
  if (source.length > MAX_PAGE_CHARS) throw tooLarge(`${MAX_PAGE_CHARS} characters`);
  let elements = 0;
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement: (...parts) => {
      if (++elements > MAX_PAGE_ELEMENTS) throw tooLarge(`${MAX_PAGE_ELEMENTS} elements`);
      return defaultTreeAdapter.createElement(...parts);
    },
  };
  // Drawn with scripts off, where the content of noscript shows.
  return parse(source, { treeAdapter, scriptingEnabled: false });
}

const tooLarge = (limit: string): Fault =>
  new Fault('page/too-large', `The page has more than ${limit}, so it is not drawn. Make a smaller page.`);

class Cleaner {
  private readonly classes = new Set<string>();
  /** Text nodes of style elements that await the rules for all classes of the page. */
  private readonly tailwind: DefaultTreeAdapterTypes.TextNode[] = [];

  constructor(private readonly sheet: string) {}

  clean(document: DefaultTreeAdapterTypes.Document): void {
    const open: { readonly parent: Parent; readonly depth: number }[] = [{ parent: document, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { parent, depth } = next;
      parent.childNodes = parent.childNodes.flatMap((child) => this.cleaned(child, parent) ?? []);
      if (depth >= MAX_DEPTH) parent.childNodes = parent.childNodes.filter((child) => !isElement(child));
      for (const child of parent.childNodes) {
        if (isElement(child)) open.push({ parent: child, depth: depth + 1 });
      }
    }
    for (const text of this.tailwind) text.value = tailwindFor(this.classes, this.sheet);
    const html = document.childNodes.find((child) => isElement(child));
    const head = html?.childNodes.find((child) => isElement(child) && child.tagName === 'head');
    if (head !== undefined && isElement(head)) head.childNodes.push(styleElement(FROZEN, head));
  }

  private cleaned(node: Node, parent: Parent): Node | undefined {
    if (node.nodeName === '#comment') return undefined;
    if (!isElement(node)) return node;
    const tag = node.tagName.toLowerCase();
    if (linksToTailwind(node, tag)) return this.tailwindElement(parent);
    if (REMOVED.has(tag)) return undefined;
    const isHtml = node.namespaceURI === namespaces.NS.HTML;
    if (!isHtml && REMOVED_IN_SVG.has(tag)) return undefined;
    if (isHtml && RENAMED[tag] !== undefined) node.tagName = node.nodeName = RENAMED[tag];
    if (tag === 'style') cleanStyle(node);
    if (tag === 'iframe') node.childNodes = [];
    const isPicture = tag === 'img' || (tag === 'input' && valueOf(node, 'type')?.toLowerCase() === 'image');
    const address = isPicture ? (valueOf(node, 'src') ?? '') : undefined;
    const isLink =
      isHtml && node.attrs.some(({ name }) => name === 'href') && (tag === 'a' || tag === 'area');
    node.attrs = node.attrs.flatMap((attribute) => cleanAttribute(attribute, node) ?? []);
    if (address !== undefined) node.attrs.push({ name: 'src', value: pictureAt(address) });
    // A link without an address is drawn as plain text.
    if (isLink) node.attrs.push({ name: 'href', value: '#' });
    for (const { name, value } of node.attrs) {
      if (name === 'class') for (const one of wordsIn(value)) this.classes.add(one);
    }
    return node;
  }

  private tailwindElement(parent: Parent): Element {
    const element = styleElement('', parent);
    this.tailwind.push(element.childNodes[0] as DefaultTreeAdapterTypes.TextNode);
    return element;
  }
}

export const isElement = (node: Node): node is Element => 'tagName' in node;

export const valueOf = (element: Element, name: string): string | undefined =>
  element.attrs.find((attribute) => attribute.name === name)?.value;

/** Also the script of later versions, which made the style sheet in the reader's browser. */
export function linksToTailwind(element: Element, tag: string): boolean {
  const address =
    tag === 'link' ? valueOf(element, 'href') : tag === 'script' ? valueOf(element, 'src') : undefined;
  return address !== undefined && /^(?:https?:)?\/\/[^?#]*tailwind/i.test(address.trim());
}

function styleElement(css: string, parentNode: Parent): Element {
  const element = defaultTreeAdapter.createElement('style', namespaces.NS.HTML, []);
  element.parentNode = parentNode;
  setText(element, css);
  return element;
}

function cleanStyle(element: Element): void {
  const css = element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
  setText(element, withoutAddresses(css));
}

/** The text knows its element, by which it is written without `&gt;`. */
function setText(element: Element, value: string): void {
  element.childNodes = [];
  defaultTreeAdapter.insertText(element, value);
}

function cleanAttribute(attribute: Element['attrs'][number], element: Element): typeof attribute | undefined {
  const name = attribute.name.toLowerCase();
  const { value } = attribute;
  if (name === 'style') return { ...attribute, value: withoutAddresses(value) };
  if (element.namespaceURI === namespaces.NS.HTML) {
    return KEPT.has(name) || name.startsWith('aria-') ? attribute : undefined;
  }
  // SVG and MathML: an address only where it leads into the page.
  if (name.startsWith('on') || name === 'tabindex' || name === 'autofocus') return undefined;
  if (/^(?:xlink:)?(?:href|src|actiontype)$/.test(name) || attribute.prefix === 'xlink') {
    return value.trim().startsWith('#') ? attribute : undefined;
  }
  return /[(\\]/.test(value) && name !== 'd' ? { ...attribute, value: withoutAddresses(value) } : attribute;
}
