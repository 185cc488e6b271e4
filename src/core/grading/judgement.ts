import type { Grade, GradingMode, TestResult } from './grade';
import { isElsewhere, lacking } from './modules';
import { referenceFailures } from './reference';
import { areEqual } from './outcome';
import type { CallOutcome } from './runner';
import { importedModules } from './source';

export interface Evidence {
  readonly mode: GradingMode;
  readonly reference: readonly CallOutcome[];
  readonly answer: readonly CallOutcome[];
  readonly limitMilliseconds: number;
}

/**
 * Compares an answer with its reference. A test on which the reference itself fails says nothing about the answer: in
 * `fixed` the reward is taken over the other tests; in `paper` no answer passes such a test.
 *
 * When the interpreter lacks what the answer needs on some test, the answer is not gradable, unless it fails another
 * test for certain: then it is no success whatever the unknown test would give, which counts as not passed. An answer
 * therefore cannot take back a failure.
 */
export function judge({ mode, reference, answer, limitMilliseconds }: Evidence): Grade {
  const failures = referenceFailures(reference, mode);
  const tests = reference.map((expected, index): TestResult => {
    const reason = failures[index];
    if (reason !== undefined) return { status: 'not-gradable', reason };
    return compare(expected, answer[index]!, limitMilliseconds);
  });
  const failed = failures.filter((reason) => reason !== undefined).length;
  const unknown = answer
    .map(lacking)
    .find((name, index) => name !== undefined && failures[index] === undefined);
  if (unknown !== undefined && !tests.some(isFailure)) {
    return notGradable(mode, tests, missingHere('answer', unknown), failed);
  }
  const missing = reference.map(lacking).find((name) => name !== undefined);
  if (missing !== undefined) return notGradable(mode, tests, missingHere('reference', missing), failed);
  const counted = mode === 'paper' ? tests.length : tests.length - failed;
  if (counted === 0) {
    return notGradable(mode, tests, failures[0] ?? 'The task has no tests.', failed);
  }
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return {
    mode,
    reward: passed / counted,
    success: passed === counted,
    tests,
    ...(failed === 0 ? {} : { referenceFailures: failed }),
  };
}

function isFailure({ status }: TestResult): boolean {
  return status === 'wrong' || status === 'error' || status === 'timed-out';
}

/** Modules through which an answer reaches others that an interpreter here may lack, or starts threads. */
const gateways = new Set(
  'asyncio concurrent multiprocessing subprocess pty tty getpass importlib'.split(' '),
);
const users: Readonly<Record<string, readonly string[]>> = {
  threads: 'threading _thread concurrent asyncio multiprocessing socketserver'.split(' '),
  processes: 'os posix subprocess _posixsubprocess multiprocessing concurrent asyncio pty'.split(' '),
  sockets: 'socket _socket asyncio urllib http ftplib smtplib socketserver ssl xmlrpc'.split(' '),
  signals: ['signal', '_signal'],
  files: [],
};

/**
 * Keeps an outcome that says something is missing only where source and interpreter bear it out. The source must import
 * what is missing, or what may need it, and a pristine interpreter of the same kind must lack it too, since an answer
 * can take a module away from its own. Otherwise the error is the answer's own.
 * @param isMissing true if an interpreter that ran nothing before lacks this
 */
export async function believable(
  outcomes: readonly CallOutcome[],
  source: string,
  isMissing: (name: string) => Promise<boolean>,
): Promise<readonly CallOutcome[]> {
  const imports = importedModules(source);
  return Promise.all(
    outcomes.map(async (outcome) => {
      const name = lacking(outcome);
      if (outcome.kind !== 'error' || name === undefined) return outcome;
      if (mayMiss(imports, name) && (await isMissing(name))) return outcome;
      const { missingModule: _, ...own } = outcome;
      return own;
    }),
  );
}

function mayMiss(imports: ReadonlySet<string>, name: string): boolean {
  const needing = users[name];
  if (name === 'files') return true; // `open` needs no import
  if (needing !== undefined) return needing.some((each) => imports.has(each));
  if (name === 'tzdata' && imports.has('zoneinfo')) return true;
  // The C part of a module of the standard library is named like the module, behind an underscore.
  if (imports.has(name) || (name.startsWith('_') && imports.has(name.slice(1)))) return true;
  return [...imports].some((each) => gateways.has(each) || isElsewhere(each));
}

export function missingHere(who: 'answer' | 'reference', name: string): string {
  const isUsed = users[name] !== undefined;
  return `The ${who} ${isUsed ? 'uses' : 'imports'} ${name}, which ${isUsed ? 'are' : 'is'} not available to the grader on this machine.`;
}

export function notGradable(
  mode: GradingMode,
  tests: readonly TestResult[],
  reason: string,
  failed: number,
): Grade {
  return {
    mode,
    reward: null,
    success: null,
    tests,
    notGradable: reason,
    ...(failed === 0 ? {} : { referenceFailures: failed }),
  };
}

function compare(expected: CallOutcome, got: CallOutcome, limitMilliseconds: number): TestResult {
  if (got.kind === 'timed-out') return { status: 'timed-out', limitMilliseconds };
  const unavailable = lacking(got);
  if (unavailable !== undefined)
    return { status: 'not-gradable', reason: missingHere('answer', unavailable) };
  if (got.kind === 'error') {
    const { type, message, line } = got;
    return { status: 'error', type, message, ...(line === undefined ? {} : { line }) };
  }
  if (expected.kind !== 'value') throw new Error('compared with a reference that gave no value');
  const { milliseconds } = got;
  const { equal, with: other } = expected.comparison ?? { equal: true, with: expected };
  // A value that equals nothing passes no test, not even one whose sides have to differ.
  if (
    got.canonical !== null &&
    other.canonical !== null &&
    areEqual(got.canonical, other.canonical) === equal
  )
    return { status: 'passed', milliseconds };
  const wanted = equal ? other.display : `anything but ${other.display}`;
  return { status: 'wrong', expected: wanted, got: got.display, milliseconds };
}
