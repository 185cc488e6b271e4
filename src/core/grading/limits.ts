/**
 * Limits on running code; times are in milliseconds. The interpreter in WebAssembly is four to eight times
 * slower than a native one.
 */
export interface GradingLimits {
  /** Limit of an answer's call, as a multiple of the time of the reference's slowest call. */
  readonly factor: number;
  readonly floorMilliseconds: number;
  /** Highest limit of an answer's call, and the limit of a reference's call. */
  readonly ceilingMilliseconds: number;
  /** Number of calls after whose time-out an answer is given up; see fairRun.ts. */
  readonly timeOuts: number;
  readonly memoryMegabytes: number;
}

export const defaultLimits: GradingLimits = {
  factor: 10,
  floorMilliseconds: 1_000,
  ceilingMilliseconds: 5_000,
  timeOuts: 2,
  memoryMegabytes: 256,
};

export function answerLimit(limits: GradingLimits, slowestReferenceCall: number): number {
  const wanted = Math.max(limits.factor * slowestReferenceCall, limits.floorMilliseconds);
  return Math.min(wanted, limits.ceilingMilliseconds);
}

/** Milliseconds beyond which a reference's call moves an answer's limit, so that it is measured alone. */
export function noticeableReferenceTime(limits: GradingLimits): number {
  return limits.floorMilliseconds / limits.factor;
}
