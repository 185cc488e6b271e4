/** What a check of a page may look at, with the form of the expected value. */
export const PAGE_PROPERTIES = {
  /** Visible words, with single spaces. */
  text: /\S/,
  /** Colors as `#rrggbb`; the background is what is seen behind, an ancestor's or white. */
  background: /^#[0-9a-f]{6}$/,
  color: /^#[0-9a-f]{6}$/,
  alignment: /^(?:left|center|right|justify)$/,
  /** Height of the letters in CSS pixels. */
  size: /^\d{1,4}$/,
  columns: /^[1-9]\d?$/,
  /** Radius of the corners in CSS pixels. */
  corners: /^\d{1,4}$/,
  /** Where it stands beside its neighbors. */
  side: /^(?:left|right)$/,
  content: /^(?:picture|list|table|form|quote|text)$/,
} as const;

export type PageProperty = keyof typeof PAGE_PROPERTIES;

/** Tag names, each inside the one before it; `section:nth(2)` is the second section. */
export const PAGE_SELECTOR =
  /^[a-z][a-z0-9]{0,15}(?::nth\([1-9]\d?\))?(?: [a-z][a-z0-9]{0,15}(?::nth\([1-9]\d?\))?){0,5}$/;

/** Something that the wanted page has, as it is decided without drawing the page. */
export interface PageCheck {
  /** What a person calls the element: "bar", "title". */
  readonly name: string;
  readonly where: string;
  readonly property: PageProperty;
  readonly equals: string;
}
