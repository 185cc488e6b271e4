/** What running code may cost. Times in milliseconds. The interpreter in WebAssembly is about four times slower than a native one. */
export interface GradingLimits {
  /** A call of an answer may take this many times what the reference's slowest call takes … */
  readonly factor: number;
  /** … but never less than this … */
  readonly floorMilliseconds: number;
  /** … nor more than this, which is also what a call of a reference may take. */
  readonly ceilingMilliseconds: number;
  /** An answer that times out on this many tests is given up. */
  readonly timeOuts: number;
  readonly memoryMegabytes: number;
}

export const defaultLimits: GradingLimits = {
  factor: 10,
  floorMilliseconds: 200,
  ceilingMilliseconds: 5_000,
  timeOuts: 2,
  memoryMegabytes: 256,
};

/** Time a call of an answer may take. */
export function answerLimit(limits: GradingLimits, slowestReferenceCall: number): number {
  const wanted = Math.max(limits.factor * slowestReferenceCall, limits.floorMilliseconds);
  return Math.min(wanted, limits.ceilingMilliseconds);
}

/** Reference calls that take longer than this move an answer's limit, so their time is measured alone. */
export function noticeableReferenceTime(limits: GradingLimits): number {
  return limits.floorMilliseconds / limits.factor;
}
