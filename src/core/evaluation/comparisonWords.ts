import type { PairedComparison } from './evaluate';
import { pairedInWords } from './pages/words';
import { chance, points } from './words';

/** Compares with the first agent of an evaluation, one sentence for each measure. */
export function comparedInWords(comparison: PairedComparison): string[] {
  const { baseline, agent, success, pages = [] } = comparison;
  const onPages = pages.map((one) => pairedInWords(baseline, agent, one));
  return success.difference === null && pages.length > 0 ? onPages : [successInWords(comparison), ...onPages];
}

function successInWords({ baseline, agent, success, testsPassed }: PairedComparison): string {
  const { difference, interval, p, tasks } = success;
  if (difference === null || p === null)
    return `${agent} against ${baseline}: no task that both were graded on.`;
  const range =
    interval === null
      ? 'too few tasks for an interval'
      : `[${points(interval.low)}, ${points(interval.high)}]`;
  return (
    `${agent} against ${baseline}: success ${points(difference)} points ${range}, ` +
    `${chance(p)}; tests passed ${points(testsPassed.difference!)} points ` +
    `(paired over ${tasks} tasks: bootstrap interval, sign-flip test)`
  );
}
