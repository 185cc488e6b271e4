import { Fault } from '../fault';
import { over, paintIn, type Color } from './color';

/** A rectangle in CSS pixels, from the page's upper left corner. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** What a person calls a piece of text. */
export type TextRole = 'title' | 'heading' | 'text' | 'link' | 'button' | 'list item' | 'label' | 'field';

export interface PageText {
  readonly role: TextRole;
  readonly text: string;
  /** Around its lines, not its element, which may be as wide as the page. */
  readonly box: Box;
  readonly color: Color;
  /** The color behind it. */
  readonly background: Color;
  /** In CSS pixels. */
  readonly fontSize: number;
  readonly bold: boolean;
}

/** A rectangle that is filled with a color, in the order of painting. */
export interface PaintedBox {
  readonly box: Box;
  readonly color: Color;
}

/** What a person sees of a page, as data. */
export interface Outline {
  /** Size of the content; the height is not padded to the window's. */
  readonly width: number;
  readonly height: number;
  readonly background: Color;
  /** In the order of reading the source. */
  readonly texts: readonly PageText[];
  readonly pictures: readonly Box[];
  /** Filled boxes, the lowest first. */
  readonly fills: readonly PaintedBox[];
}

/** An element or a piece of text as a renderer laid it out. */
export interface LaidOut {
  /** Lower case; `#text` for text. */
  readonly tag: string;
  /** Index of the parent in the list; -1 for the root. */
  readonly parent: number;
  readonly box: Box;
  /** Of a text: its characters. Of a field: its value or placeholder. */
  readonly text?: string;
  /** Computed styles as CSS writes them. */
  readonly display: string;
  readonly color: string;
  readonly backgroundColor: string;
  readonly fontSize: string;
  readonly fontWeight: string;
  readonly opacity: string;
  readonly visibility: string;
  /** Higher ones are painted later. */
  readonly paintOrder: number;
}

const WHITE: Color = [255, 255, 255];

/** A color difference per channel that nobody sees: such text is not on the page. */
const INVISIBLE_DIFFERENCE = 8;
const MIN_OPACITY = 0.1;
/** Side in CSS pixels below which a box or a letter is not seen. */
const MIN_SIDE = 2;

const FIELDS: ReadonlySet<string> = new Set(['input', 'textarea', 'select']);
const PICTURES: ReadonlySet<string> = new Set(['img', 'svg', 'video', 'iframe', 'canvas']);

/** @param width of the window in CSS pixels */
export function outlineOf(nodes: readonly LaidOut[], width: number): Outline {
  return new Outliner(nodes, width).outline();
}

class Outliner {
  private readonly opacities: number[] = [];
  private readonly fills: (PaintedBox & { readonly paintOrder: number })[] = [];
  private readonly height: number;
  private readonly background: Color;

  constructor(
    private readonly nodes: readonly LaidOut[],
    private readonly width: number,
  ) {
    // In quirks mode html and body are as tall as the window; the content is what is inside them.
    const body = nodes.find(({ tag }) => tag === 'body');
    const inside = nodes.filter(({ tag }) => tag !== '#document' && tag !== 'html' && tag !== 'body');
    this.height = Math.max(1, ...inside.map(({ box }) => Math.ceil(box.y + box.height)));
    const root = nodes.find(({ tag }) => tag === 'html');
    const canvas = [root, body]
      .map((node) => paintIn(node?.backgroundColor))
      .find((paint) => paint !== undefined && paint.alpha > 0);
    this.background = canvas === undefined ? WHITE : over(canvas, WHITE);
    for (const node of nodes) {
      this.opacities.push(Number(node.opacity) * (node.parent < 0 ? 1 : this.opacities[node.parent]!));
    }
  }

  outline(): Outline {
    this.nodes.forEach((node, index) => this.fill(node, index));
    this.fills.sort((a, b) => a.paintOrder - b.paintOrder);
    const { width, height, background } = this;
    return {
      ...{ width, height, background },
      texts: this.texts(),
      pictures: this.nodes.flatMap((node, index) =>
        PICTURES.has(node.tag) && this.isVisible(index) && !this.isInside(index, 'svg') ? [node.box] : [],
      ),
      fills: this.fills.map(({ box, color }) => ({ box, color })),
    };
  }

  private fill(node: LaidOut, index: number): void {
    if (node.tag === '#text' || node.tag === 'html' || node.tag === 'body' || !this.isVisible(index)) return;
    const { box, paintOrder, backgroundColor } = node;
    const color = this.painted(backgroundColor, index, this.behind(box, paintOrder));
    if (color !== undefined) this.fills.push({ box, color, paintOrder });
  }

  /** One text for each block, so that words in bold do not tear a sentence apart; links and buttons stand alone. */
  private texts(): PageText[] {
    const groups = new Map<number, number[]>();
    this.nodes.forEach((node, index) => {
      if (!node.text?.trim() || !this.isVisible(index)) return;
      const owner = this.ownerOf(index);
      groups.set(owner, [...(groups.get(owner) ?? []), index]);
    });
    return [...groups].flatMap(([owner, members]) => this.text(owner, members) ?? []);
  }

  private text(owner: number, members: readonly number[]): PageText | undefined {
    const nodes = members.map((index) => this.nodes[index]!);
    const longest = nodes.reduce((a, b) => (b.text!.length > a.text!.length ? b : a));
    const box = around(nodes.map((node) => node.box));
    const background = this.behind(longest.box, longest.paintOrder);
    const seen = this.painted(longest.color, members[0]!, background) ?? background;
    const fontSize = Number.parseFloat(longest.fontSize);
    const isHidden =
      fontSize < MIN_SIDE ||
      seen.every((channel, i) => Math.abs(channel - background[i]!) < INVISIBLE_DIFFERENCE) ||
      this.isCovered(longest);
    if (isHidden) return undefined;
    return {
      role: this.roleOf(owner),
      text: nodes
        .map((node) => node.text!.trim())
        .join(' ')
        .replace(/\s+/g, ' '),
      ...{ box, color: seen, background, fontSize },
      bold: Number(longest.fontWeight) >= 600,
    };
  }

  /** The nearest link, button or block around a text. */
  private ownerOf(index: number): number {
    let at = index;
    if (FIELDS.has(this.nodes[at]!.tag)) return at;
    for (at = this.nodes[at]!.parent; at >= 0; at = this.nodes[at]!.parent) {
      const { tag, display } = this.nodes[at]!;
      if (tag === 'a' || tag === 'button' || !display.startsWith('inline')) return at;
    }
    return index;
  }

  private roleOf(index: number): TextRole {
    for (let at = index; at >= 0; at = this.nodes[at]!.parent) {
      const { tag } = this.nodes[at]!;
      if (tag === 'button' || tag === 'summary') return 'button';
      if (FIELDS.has(tag)) return 'field';
      if (tag === 'a') return 'link';
      if (tag === 'h1') return 'title';
      if (/^h[2-6]$/.test(tag)) return 'heading';
      if (tag === 'li') return 'list item';
      if (tag === 'label') return 'label';
    }
    return 'text';
  }

  private isInside(index: number, tag: string): boolean {
    for (let at = this.nodes[index]!.parent; at >= 0; at = this.nodes[at]!.parent) {
      if (this.nodes[at]!.tag === tag) return true;
    }
    return false;
  }

  private isVisible(index: number): boolean {
    const { box, visibility } = this.nodes[index]!;
    return (
      visibility === 'visible' &&
      this.opacities[index]! >= MIN_OPACITY &&
      box.width >= MIN_SIDE &&
      box.height >= MIN_SIDE &&
      box.x < this.width &&
      box.x + box.width > 0 &&
      box.y + box.height > 0
    );
  }

  /** The color that a node's paint has over another one; undefined where nothing is painted. */
  private painted(css: string, index: number, below: Color): Color | undefined {
    const paint = paintIn(css);
    const alpha = (paint?.alpha ?? 0) * this.opacities[index]!;
    return paint === undefined || alpha <= 0 ? undefined : over({ color: paint.color, alpha }, below);
  }

  /** The color that was painted last below the middle of the box. */
  private behind({ x, y, width, height }: Box, paintOrder: number): Color {
    const last = this.fills.findLast(
      (fill) => fill.paintOrder <= paintOrder && contains(fill.box, x + width / 2, y + height / 2),
    );
    return last?.color ?? this.background;
  }

  private isCovered({ box, paintOrder }: LaidOut): boolean {
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    return this.fills.some((fill) => fill.paintOrder > paintOrder && contains(fill.box, x, y));
  }
}

const contains = (box: Box, x: number, y: number): boolean =>
  x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** Draws pages, to read what a person would see of them. */
export interface PageReader {
  /** The file of Tailwind's sheet (`media/pages`), by which checks are decided without drawing. */
  readonly sheet: string;
  /** Names what draws: outlines of two names are not comparable. */
  name(): Promise<string>;
  /**
   * @param html a page as an agent wrote it
   * @throws {Fault} `page/too-large`, `page/too-slow`, `page/browser-failed`
   */
  outlineOf(html: string): Promise<Outline>;
  /**
   * A PNG as tall as the content. Absent where what draws gives no pictures.
   * @throws as `outlineOf`
   */
  pictureOf?(html: string): Promise<Buffer>;
}

/** True if the page is at fault, not this machine. */
export const isOfPage = (error: unknown): error is Fault =>
  error instanceof Fault && (error.code === 'page/too-large' || error.code === 'page/too-slow');
