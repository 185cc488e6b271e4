import type { Color } from './outline';

type Lab = readonly [lightness: number, a: number, b: number];

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
export function colorDistance(a: Color, b: Color): number {
  const [p, q] = [labOf(a), labOf(b)];
  return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

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

/** Such as `#1e40af`. */
export const hex = (color: Color): string =>
  `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
