import type { DefaultTreeAdapterTypes } from 'parse5';
import { isElement, linksToTailwind, MAX_DEPTH, parsePage, valueOf } from './cleanPage';
import { over, paintIn, type Color } from './color';
import { declarationsIn, tailwindDeclarations } from './tailwind';
import { wordsIn } from '../text';

type Element = DefaultTreeAdapterTypes.Element;
type Parent = DefaultTreeAdapterTypes.ParentNode;

interface Styles {
  readonly color: Color;
  /** What is seen behind it. */
  readonly background: Color;
  readonly alignment: string;
  /** In CSS pixels. */
  readonly fontSize: number;
  readonly display: string;
  /** Of a row's children: `flex-direction`. */
  readonly direction: string;
  readonly gridColumns: string;
  readonly float: string;
  /** Of the corners, in CSS pixels. */
  readonly radius: number;
}

/** An element that is displayed. */
export interface StyledElement {
  readonly tag: string;
  readonly attribute: (name: string) => string | undefined;
  readonly styles: Styles;
  /** Absent for the root. */
  readonly parent: StyledElement | undefined;
  /** Texts and displayed elements in their order. */
  readonly content: readonly (string | StyledElement)[];
}

/** Width of the window for which responsive classes are read, as pages are drawn. */
const WIDTH = 1366;

const ROOT: Styles = {
  ...{ color: [0, 0, 0], background: [255, 255, 255], alignment: 'left', fontSize: 16 },
  ...{ display: 'block', direction: 'row', gridColumns: 'none', float: 'none', radius: 0 },
};

/**
 * The displayed elements of a page in the order of the source, styled by Tailwind's classes and by `style` attributes.
 * Style elements are not read.
 * @param sheet the file of Tailwind's sheet (`media/pages`)
 * @throws {Fault} `page/too-large`
 */
export function styledElements(html: string, sheet: string): readonly StyledElement[] {
  const document = parsePage(html);
  const found: StyledElement[] = [];
  const file = hasTailwind(document) ? sheet : undefined;
  visit(document, undefined, 0);
  return found;

  function visit(node: Parent, parent: StyledElement | undefined, depth: number): (string | StyledElement)[] {
    return node.childNodes.flatMap((child): (string | StyledElement)[] => {
      if (child.nodeName === '#text' && 'value' in child) return [child.value];
      if (!isElement(child) || depth >= MAX_DEPTH) return [];
      const styles = UNSEEN.has(child.tagName) ? undefined : stylesOf(child, parent?.styles ?? ROOT, file);
      if (styles === undefined) return [];
      const content: (string | StyledElement)[] = [];
      const attribute = (name: string): string | undefined => valueOf(child, name);
      const element = { tag: child.tagName, attribute, styles, parent, content };
      found.push(element);
      content.push(...visit(child, element, depth + 1));
      return [element];
    });
  }
}

const UNSEEN: ReadonlySet<string> = new Set(['head', 'script', 'style', 'template', 'title', 'link', 'meta']);

function hasTailwind(node: Parent, depth = 0): boolean {
  return node.childNodes.some(
    (child) =>
      isElement(child) &&
      depth < MAX_DEPTH &&
      (linksToTailwind(child, child.tagName) || hasTailwind(child, depth + 1)),
  );
}

/** Without Tailwind, in `em`. */
const HEADING_SIZES: Readonly<Record<string, number>> = { h1: 2, h2: 1.5, h3: 1.17, h5: 0.83, h6: 0.67 };

/** Undefined when the element is not displayed. */
function stylesOf(element: Element, inherited: Styles, file: string | undefined): Styles | undefined {
  const classes = wordsIn(valueOf(element, 'class') ?? '');
  const declared = new Map([
    ...(file === undefined ? [] : tailwindDeclarations(classes, file, WIDTH)),
    ...declarationsIn(valueOf(element, 'style') ?? ''),
  ]);
  const value = (property: string): string | undefined =>
    declared
      .get(property)
      ?.replace(/!important$/i, '')
      .trim()
      .replace(/var\((--[\w-]+)\)/g, (_, name: string) => declared.get(name) ?? '')
      .toLowerCase();
  const display = value('display') ?? 'block';
  const isHidden = valueOf(element, 'hidden') !== undefined || display === 'none';
  if (isHidden || value('visibility') === 'hidden' || value('opacity') === '0') return undefined;
  const { fontSize: parentSize } = inherited;
  const heading = file === undefined ? HEADING_SIZES[element.tagName] : undefined;
  const fontSize = lengthOf(value('font-size'), parentSize) ?? parentSize * (heading ?? 1);
  const behind = paintIn(value('background-color') ?? value('background'));
  const align = value('text-align') ?? valueOf(element, 'align')?.toLowerCase();
  const letters = paintIn(value('color'));
  return {
    color: letters === undefined ? inherited.color : over(letters, inherited.background),
    background: behind === undefined ? inherited.background : over(behind, inherited.background),
    alignment: align === undefined ? inherited.alignment : (LOGICAL[align] ?? align),
    fontSize,
    display,
    direction: value('flex-direction') ?? 'row',
    gridColumns: value('grid-template-columns') ?? 'none',
    float: value('float') ?? 'none',
    radius: lengthOf(value('border-radius'), fontSize) ?? 0,
  };
}

const LOGICAL: Readonly<Record<string, string>> = { start: 'left', end: 'right' };

function lengthOf(value: string | undefined, em: number): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?|\.\d+)(px|rem|em)?$/.exec(value ?? '') ?? [];
  if (number === undefined) return undefined;
  return Number(number) * (unit === 'rem' ? 16 : unit === 'em' ? em : 1);
}
