/** More lines than any function has; comparing more would take long for nothing. */
const MOST_LINES = 2_000;

/**
 * How much of code that was accepted is still there: the fraction of its lines that stand in what it has become, in their
 * order, 0 to 1. Blank lines and white space at either end of a line do not count, so that moving code changes nothing.
 */
export function survival(accepted: string, now: string): number {
  const before = linesOf(accepted);
  const after = linesOf(now);
  return before.length === 0 ? 1 : commonLines(before, after) / before.length;
}

function linesOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MOST_LINES);
}

/** The length of the longest common subsequence. */
function commonLines(one: readonly string[], other: readonly string[]): number {
  let row = new Array<number>(other.length + 1).fill(0);
  for (const line of one) {
    const next = [0];
    for (const [at, against] of other.entries()) {
      next.push(line === against ? row[at]! + 1 : Math.max(row[at + 1]!, next[at]!));
    }
    row = next;
  }
  return row.at(-1)!;
}
