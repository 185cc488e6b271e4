import type { PageProperty } from '../../../pageCheck';

/** What a colleague may want in another way than the trade usually has it, from the top of a page to its foot. */
export const PAGE_DECISIONS = [
  'bar',
  'background',
  'alignment',
  'size',
  'order',
  'side',
  'corners',
  'columns',
  'third',
  'label',
  'action',
  'foot',
] as const;

export type PageDecision = (typeof PAGE_DECISIONS)[number];

/** One value for each decision, by its name in `PAGE_OPTIONS`. */
export type PageValues = Readonly<Record<PageDecision, string>>;

interface Look {
  /** What a person calls the element. */
  readonly name: string;
  readonly where: string;
  readonly property: PageProperty;
  /** Cues say that the colleague cares about it, and never how it should be. */
  readonly cues: readonly string[];
}

export const looks: Readonly<Record<PageDecision, Look>> = {
  bar: {
    ...{ name: 'bar', where: 'header', property: 'background' },
    cues: ['I have a color in mind for the bar.', 'The color of the bar matters to me.'],
  },
  background: {
    ...{ name: 'page', where: 'body', property: 'background' },
    cues: ['I have a color in mind for the page.', 'The color of the page matters to me.'],
  },
  alignment: {
    ...{ name: 'title', where: 'h1', property: 'alignment' },
    cues: ['Mind where the title stands.', 'The title has its own place.'],
  },
  size: {
    ...{ name: 'title', where: 'h1', property: 'size' },
    cues: ['Mind the size of the title.', 'The letters of the title matter to me.'],
  },
  order: {
    ...{ name: 'first section', where: 'main section:nth(1)', property: 'content' },
    cues: ['Mind what comes first.', 'The order matters to me.'],
  },
  side: {
    ...{ name: 'picture', where: 'main img', property: 'side' },
    cues: ['Mind where the picture stands.', 'The picture has its own place.'],
  },
  corners: {
    ...{ name: 'picture', where: 'main img', property: 'corners' },
    cues: ['Look at the corners too.', 'Mind the corners of the picture.'],
  },
  columns: {
    ...{ name: 'list', where: 'main ul', property: 'columns' },
    cues: ['Mind how wide the list is.', 'The columns matter to me.'],
  },
  third: {
    ...{ name: 'third section', where: 'main section:nth(3)', property: 'content' },
    cues: ['I want something else in the end.', 'The last section is a special one.'],
  },
  label: {
    ...{ name: 'button', where: 'main button', property: 'text' },
    cues: ['I know what the button says.', 'The words of the button matter to me.'],
  },
  action: {
    ...{ name: 'button', where: 'main button', property: 'background' },
    cues: ['I have a color in mind for the button.', 'The color of the button matters to me.'],
  },
  foot: {
    ...{ name: 'foot', where: 'footer', property: 'background' },
    cues: ['Do not forget the foot.', 'The color of the foot matters to me.'],
  },
};

interface PageOption {
  /** What the page has for it: classes, words, or the kind of a section. */
  readonly html: string;
  /** The value that its check expects. */
  readonly equals: string;
}

const plain = (...words: readonly string[]): Readonly<Record<string, PageOption>> =>
  Object.fromEntries(words.map((word) => [word, { html: word, equals: word }]));

/** The names of colors are those by which the rules call them. */
export const PAGE_OPTIONS: Readonly<Record<PageDecision, Readonly<Record<string, PageOption>>>> = {
  bar: {
    'dark red': { html: 'bg-red-800', equals: '#991b1b' },
    'dark green': { html: 'bg-green-800', equals: '#065f46' },
    'dark blue': { html: 'bg-blue-800', equals: '#1e40af' },
    'dark purple': { html: 'bg-purple-800', equals: '#5b21b6' },
    'dark gray': { html: 'bg-gray-700', equals: '#374151' },
    brown: { html: 'bg-yellow-800', equals: '#92400e' },
  },
  background: {
    white: { html: 'bg-white', equals: '#ffffff' },
    'very light gray': { html: 'bg-gray-200', equals: '#e5e7eb' },
    'light blue': { html: 'bg-blue-100', equals: '#dbeafe' },
    'light pink': { html: 'bg-pink-100', equals: '#fce7f3' },
    'light yellow': { html: 'bg-yellow-200', equals: '#fde68a' },
  },
  alignment: {
    left: { html: 'text-left', equals: 'left' },
    center: { html: 'text-center', equals: 'center' },
    right: { html: 'text-right', equals: 'right' },
  },
  size: {
    small: { html: 'text-2xl', equals: '24' },
    medium: { html: 'text-4xl', equals: '36' },
    large: { html: 'text-6xl', equals: '60' },
  },
  order: {
    'picture first': { html: 'picture', equals: 'picture' },
    'list first': { html: 'list', equals: 'list' },
  },
  side: {
    left: { html: 'flex-row', equals: 'left' },
    right: { html: 'flex-row-reverse', equals: 'right' },
  },
  corners: {
    square: { html: 'rounded-none', equals: '0' },
    soft: { html: 'rounded-lg', equals: '8' },
    round: { html: 'rounded-3xl', equals: '24' },
  },
  columns: {
    two: { html: 'grid-cols-2', equals: '2' },
    three: { html: 'grid-cols-3', equals: '3' },
    four: { html: 'grid-cols-4', equals: '4' },
  },
  third: plain('quote', 'form', 'table'),
  label: plain('Book now', 'Order now', 'Call us', 'Learn more', 'Join us'),
  action: {
    red: { html: 'bg-red-500', equals: '#ef4444' },
    green: { html: 'bg-green-500', equals: '#10b981' },
    blue: { html: 'bg-blue-500', equals: '#3b82f6' },
    purple: { html: 'bg-purple-500', equals: '#8b5cf6' },
    yellow: { html: 'bg-yellow-400', equals: '#fbbf24' },
    pink: { html: 'bg-pink-500', equals: '#ec4899' },
  },
  foot: {
    black: { html: 'bg-gray-900 text-white', equals: '#111827' },
    'light gray': { html: 'bg-gray-300 text-black', equals: '#d1d5db' },
    'light green': { html: 'bg-green-300 text-black', equals: '#6ee7b7' },
  },
};
