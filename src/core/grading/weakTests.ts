import type { ProgramTask } from '../task/task';
import type { CallOutcome } from './runner';

/**
 * One sentence for the author of the pack on each thing that the tests cannot tell apart.
 * @param calls outcomes of the task's reference, one for each test
 */
export function weaknesses({ reference, testCases }: ProgramTask, calls: readonly CallOutcome[]): string[] {
  const found: string[] = [];
  if (calls.every((call) => call.kind === 'value' && call.none) && /\bprint\s*\(/.test(reference)) {
    found.push('The reference only prints, and output is not compared; let it return what it prints.');
    return found;
  }
  const [expected, ...others] = [...new Set(calls.map(expectedOf))];
  if (expected !== undefined && others.length === 0) {
    found.push(
      `Every test expects ${shown(calls)}, so an answer that returns it for all inputs passes; add a test that expects something else.`,
    );
  }
  const compared = testCases.filter((_, index) => isCompared(calls[index]));
  if (compared.length > 0) {
    found.push(
      `${compared.length} of ${testCases.length} tests compare (${compared[0]!.name}), and many graders see only True or False then; where the reference gives the right value, let a test be the call alone.`,
    );
  }
  for (const [index, call] of calls.entries()) {
    if (call.kind !== 'value' || call.comparison?.equal !== false) continue;
    found.push(
      `${testCases[index]!.name}: The reference does not give ${call.comparison.with.display} here, so every other value passes.`,
    );
  }
  return found;
}

/** Canonical text of the only value that passes the test; undefined when there is none, or more than one. */
function expectedOf(call: CallOutcome): string | undefined {
  if (call.kind !== 'value') return undefined;
  if (call.comparison === undefined) return call.canonical ?? undefined;
  return call.comparison.equal ? call.comparison.with.canonical : undefined;
}

/** The value that the first test expects, as Python shows it. */
function shown([first]: readonly CallOutcome[]): string {
  if (first?.kind !== 'value') throw new Error('shown of a reference that gave no value');
  return first.comparison?.with.display ?? first.display;
}

function isCompared(call: CallOutcome | undefined): boolean {
  return call?.kind === 'value' && call.compared === true;
}
