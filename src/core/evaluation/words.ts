/** `31.5 %`. */
export const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

/** `+3.1` in percentage points, with a real minus sign. */
export const points = (fraction: number): string =>
  `${fraction < 0 ? '−' : '+'}${Math.abs(100 * fraction).toFixed(1)}`;

/** `p < 0.001`, `p = 0.042`. */
export const chance = (p: number): string => (p < 0.001 ? 'p < 0.001' : `p = ${p.toFixed(3)}`);
