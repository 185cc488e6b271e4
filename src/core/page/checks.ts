import type { PageCheck, PageProperty } from '../pageCheck';
import { colorName, hex, paintIn } from './color';
import { type StyledElement, styledElements } from './pageStyles';

export interface CheckResult {
  readonly check: PageCheck;
  /** Undefined when the page has no such element, or when it cannot be told without drawing it. */
  readonly found: string | undefined;
  /** True when the page has the element. */
  readonly isThere: boolean;
  readonly passed: boolean;
}

/** Raise it when the same page could pass other checks than before. */
export const CHECKS_VERSION = 1;

/**
 * Decides on the source of a page, without drawing it.
 * @param sheet the file of Tailwind's sheet (`media/pages`)
 * @throws {Fault} `page/too-large`
 */
export function checkPage(html: string, checks: readonly PageCheck[], sheet: string): readonly CheckResult[] {
  const elements = styledElements(html, sheet);
  return checks.map((check) => {
    const element = elementAt(check.where, elements);
    const found = element && READ[check.property](element);
    return { check, found, isThere: element !== undefined, passed: found === check.equals };
  });
}

/** The first element that a selector names. */
function elementAt(where: string, elements: readonly StyledElement[]): StyledElement | undefined {
  let inside: ReadonlySet<StyledElement> | undefined;
  for (const step of where.split(' ')) {
    const [, tag, nth] = /^(\w+)(?::nth\((\d+)\))?$/.exec(step)!;
    const named = elements.filter((element) => isCalled(element, tag!) && isInside(element, inside));
    inside = new Set(nth === undefined ? named : named.slice(Number(nth) - 1, Number(nth)));
  }
  return inside?.values().next().value;
}

function isInside(element: StyledElement, outer: ReadonlySet<StyledElement> | undefined): boolean {
  if (outer === undefined) return true;
  for (let at = element.parent; at !== undefined; at = at.parent) if (outer.has(at)) return true;
  return false;
}

function isCalled({ tag, attribute }: StyledElement, name: string): boolean {
  if (tag === name || attribute('role') === name) return true;
  return name === 'button' && tag === 'input' && ['submit', 'button'].includes(attribute('type') ?? '');
}

const READ: Readonly<Record<PageProperty, (element: StyledElement) => string | undefined>> = {
  text: (element) =>
    element.tag === 'input' ? element.attribute('value') : textOf(element).replace(/\s+/g, ' ').trim(),
  background: ({ styles }) => hex(styles.background),
  color: ({ styles }) => hex(styles.color),
  alignment: ({ styles }) => styles.alignment,
  size: ({ styles }) => String(Math.round(styles.fontSize)),
  columns: ({ styles }) => String(columnsOf(styles)),
  corners: ({ styles }) => String(Math.round(styles.radius)),
  side: sideOf,
  content: contentOf,
};

const textOf = ({ content }: StyledElement): string =>
  content.map((part) => (typeof part === 'string' ? part : textOf(part))).join('');

const childrenOf = ({ content }: StyledElement): readonly StyledElement[] =>
  content.filter((part) => typeof part !== 'string');

function columnsOf({ display, gridColumns }: StyledElement['styles']): number {
  if (!display.endsWith('grid') || gridColumns === 'none') return 1;
  const [, times] = /^repeat\((\d+),/.exec(gridColumns) ?? [];
  return times === undefined ? gridColumns.replace(/\([^()]*\)/g, '').split(/\s+/).length : Number(times);
}

/** In the nearest row around it that has something else. */
function sideOf(element: StyledElement): string | undefined {
  const { float } = element.styles;
  if (float === 'left' || float === 'right') return float;
  for (let at = element; at.parent !== undefined; at = at.parent) {
    const { display, direction } = at.parent.styles;
    const siblings = childrenOf(at.parent);
    const isRow = display.endsWith('flex') && direction.startsWith('row');
    if (siblings.length < 2 || (!isRow && columnsOf(at.parent.styles) === 1)) continue;
    const isReversed = isRow && direction === 'row-reverse';
    if (at === siblings[0]) return isReversed ? 'right' : 'left';
    return at === siblings.at(-1) ? (isReversed ? 'left' : 'right') : undefined;
  }
  return undefined;
}

const CONTENT: readonly (readonly [content: string, tags: readonly string[]])[] = [
  ['picture', ['img', 'svg']],
  ['table', ['table']],
  ['form', ['form', 'input', 'textarea', 'select']],
  ['quote', ['blockquote']],
  ['list', ['ul', 'ol']],
];

function contentOf(element: StyledElement): string {
  const tags = new Set(tagsIn(element));
  return CONTENT.find(([, names]) => names.some((name) => tags.has(name)))?.[0] ?? 'text';
}

const tagsIn = (element: StyledElement): readonly string[] =>
  childrenOf(element).flatMap((child) => [child.tag, ...tagsIn(child)]);

/**
 * What a person asks for when a check fails. The sentence says how it should be, not how it is, so that one sentence
 * always asks for the same change.
 */
export function checkInWords({ check, isThere }: CheckResult): string {
  const { name, where, equals } = check;
  if (!isThere) return `I do not see the ${name} (${where}).`;
  switch (check.property) {
    case 'text':
      return `The ${name} should say “${equals}”.`;
    case 'background':
      return `The background of the ${name} should be ${color(equals)}.`;
    case 'color':
      return `The letters of the ${name} should be ${color(equals)}.`;
    case 'alignment':
      return `The ${name} should be ${ALIGNMENTS[equals]}.`;
    case 'size':
      return `The letters of the ${name} should have ${equals} pixels.`;
    case 'columns':
      return `The ${name} should have ${equals} column${equals === '1' ? '' : 's'}.`;
    case 'corners':
      return `The corners of the ${name} should have a radius of ${equals} pixels.`;
    case 'side':
      return `The ${name} should stand on the ${equals}.`;
    case 'content':
      return `The ${name} should have ${equals === 'text' ? 'text alone' : `a ${equals}`}.`;
  }
}

const ALIGNMENTS: Readonly<Record<string, string>> = {
  left: 'aligned to the left',
  center: 'centered',
  right: 'aligned to the right',
  justify: 'justified',
};

const color = (value: string): string => `${colorName(paintIn(value)!.color)} (${value})`;
