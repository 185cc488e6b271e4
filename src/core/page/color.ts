/** sRGB, each 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

export interface Paint {
  readonly color: Color;
  readonly alpha: number;
}

export function over({ color, alpha }: Paint, below: Color): Color {
  const [red, green, blue] = color.map((channel, i) => Math.round(channel * alpha + below[i]! * (1 - alpha)));
  return [red!, green!, blue!];
}

export type Lab = readonly [lightness: number, a: number, b: number];

/** CIE L*a*b* under D65, in which distances are as people see them. */
export function labOf(color: Color): Lab {
  const [r, g, b] = color.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const f = (t: number): number => (t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116);
  const x = f((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047);
  const y = f(0.2126729 * r + 0.7151522 * g + 0.072175 * b);
  const z = f((0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIE76: 2 is hardly seen, 100 is black on white. */
export const colorDistance = (a: Color, b: Color): number => labDistance(labOf(a), labOf(b));

export const labDistance = (a: Lab, b: Lab): number => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);

/** Names that people use, by a typical color of Tailwind's palette or CSS. */
const NAMES: readonly (readonly [name: string, color: Color])[] = [
  ['white', [255, 255, 255]],
  ['very light gray', [243, 244, 246]],
  ['light gray', [209, 213, 219]],
  ['gray', [107, 114, 128]],
  ['gray', [160, 164, 172]],
  ['dark gray', [55, 65, 81]],
  ['black', [0, 0, 0]],
  ['black', [17, 24, 39]],
  ['light red', [252, 165, 165]],
  ['red', [239, 68, 68]],
  ['dark red', [153, 27, 27]],
  ['orange', [245, 130, 32]],
  ['light yellow', [253, 230, 138]],
  ['yellow', [251, 191, 36]],
  ['brown', [146, 84, 34]],
  ['light green', [110, 231, 183]],
  ['green', [16, 185, 129]],
  ['green', [34, 160, 60]],
  ['dark green', [6, 95, 70]],
  ['teal', [20, 184, 166]],
  ['light blue', [191, 219, 254]],
  ['blue', [59, 130, 246]],
  ['dark blue', [30, 58, 138]],
  ['light purple', [196, 181, 253]],
  ['purple', [139, 92, 246]],
  ['dark purple', [91, 33, 182]],
  ['light pink', [252, 231, 243]],
  ['pink', [236, 72, 153]],
];

export function colorName(color: Color): string {
  return NAMES.reduce((a, b) => (colorDistance(b[1], color) < colorDistance(a[1], color) ? b : a))[0];
}

/** Longest first, so that "light green" is found before "green". */
export const colorNames: readonly string[] = [...new Set(NAMES.map(([name]) => name))].sort(
  (a, b) => b.length - a.length,
);

/** Largest distance to a typical color of a name at which a person may still use the name. */
const MAX_NAMED_DISTANCE = 30;

/** True if a person may call the color that; "blue" is also said of a light and of a dark blue. */
export function mayBeNamed(color: Color, name: string): boolean {
  const hue = (words: string): string => words.slice(words.lastIndexOf(' ') + 1);
  return (
    hue(colorName(color)) === hue(name) ||
    NAMES.some(([other, typical]) => other === name && colorDistance(typical, color) <= MAX_NAMED_DISTANCE)
  );
}

/** Such as `#1e40af`. */
export const hex = (color: Color): string =>
  `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

/** Names of HTML 4; the others of CSS are read as no color. */
const CSS_NAMES: Readonly<Record<string, string>> = {
  black: '#000000',
  silver: '#c0c0c0',
  gray: '#808080',
  white: '#ffffff',
  maroon: '#800000',
  red: '#ff0000',
  purple: '#800080',
  fuchsia: '#ff00ff',
  green: '#008000',
  lime: '#00ff00',
  olive: '#808000',
  yellow: '#ffff00',
  navy: '#000080',
  blue: '#0000ff',
  teal: '#008080',
  aqua: '#00ffff',
  orange: '#ffa500',
};

/** The color of a declaration or a computed style; of `background` the first that it has. `color(…)` counts as none. */
export function paintIn(css: string | undefined): Paint | undefined {
  for (const part of css?.match(/rgba?\([^()]*\)|[^\s()]+/g) ?? []) {
    const value = CSS_NAMES[part] ?? part;
    if (part === 'transparent') return { color: [0, 0, 0], alpha: 0 };
    if (/^#(?:[\da-f]{3}|[\da-f]{6})$/.test(value)) {
      const long = value.length === 4 ? value.replace(/[\da-f]/g, '$&$&') : value;
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(long.slice(at, at + 2), 16));
      return { color: [red!, green!, blue!], alpha: 1 };
    }
    const numbers = part.startsWith('rgb') ? part.match(/\d+(?:\.\d+)?|\.\d+/g)?.map(Number) : undefined;
    if (numbers !== undefined && numbers.length >= 3) {
      const [red, green, blue, alpha = 1] = numbers;
      return { color: [red!, green!, blue!], alpha };
    }
  }
  return undefined;
}
