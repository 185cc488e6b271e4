/** Pages as the extension host gives them to the views: a page is cleaned by the host before it is drawn here. */

/** A page that can be drawn, or the sentence that says why it cannot. */
export type PageView = { readonly html: string } | { readonly problem: string };

/** The page in an agent's message. */
export interface DraftView {
  readonly page: PageView;
  /** HTML as the agent wrote it, of which a long one lacks its end. */
  readonly source: string;
  /** Length of the whole. */
  readonly characters: number;
}

export const pinned = ['draft', 'wanted'] as const;
export type Pinned = (typeof pinned)[number];

/** A place on a page that a person points at. Pins are numbered in their order, from 1. */
export interface Pin {
  readonly of: Pinned;
  /** Fractions of the page's width and height, 0 to 1. */
  readonly x: number;
  readonly y: number;
  /** The place in words: `the heading “Welcome”`, `left of the picture in the middle`. */
  readonly words: string;
}
