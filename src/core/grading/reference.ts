import { createHash } from 'node:crypto';
import type { ProgramTask } from '../task/task';
import { runFairly, type Gate, noticeableReferenceTime, type GradingLimits } from './fairRun';
import { withDecisions } from './decision';
import { plainOutcome } from './outcome';
import type { OutcomeCache, ReferenceOutputs } from './referenceCache';
import type { GradingMode } from './grade';
import { seedOf, type Call, type CallOutcome, type Job, type Reply, type Runner } from './runner';
import { topLevelOf, wordsOf } from './source';

/**
 * Raise it when this file, decision.ts, fairRun.ts, runner.ts or native/claims.ts change the outcome of a reference.
 * The rest is in the version of the runner.
 */
const outcomeVersion = 5;

interface ReferenceQuestion {
  readonly task: ProgramTask;
  readonly mode: GradingMode;
  readonly runner: Runner;
}

/** Runs each reference once, even when several answers to one task are graded at the same time. */
export class References {
  private readonly running = new Map<string, Promise<ReferenceOutputs>>();

  constructor(
    private readonly gate: Gate,
    private readonly limits: GradingLimits,
    private readonly cache: OutcomeCache,
  ) {}

  async outputs(question: ReferenceQuestion): Promise<ReferenceOutputs> {
    const key = this.key(question);
    const known = this.running.get(key);
    if (known !== undefined) return known;
    const work = this.lookUp(key, question).finally(() => this.running.delete(key));
    this.running.set(key, work);
    return work;
  }

  private async lookUp(key: string, question: ReferenceQuestion): Promise<ReferenceOutputs> {
    const cached = await this.cache.get(key);
    if (cached?.calls.length === question.task.testCases.length) return cached;
    const outputs = await this.run(question);
    await this.cache.put(key, outputs);
    return outputs;
  }

  private async run({ task, mode, runner }: ReferenceQuestion): Promise<ReferenceOutputs> {
    const job = referenceJob(task, mode, this.limits);
    const run = (calls: readonly Call[]): Promise<readonly Reply[]> =>
      runFairly(runner, this.gate, { ...job, calls }, this.limits);
    const outcomes = (await run(job.calls)).map(plainOutcome);
    const tests = task.testCases.map(({ call }) => call);
    const calls = await withDecisions(tests, outcomes, { source: run, pristine: run });
    const slowest = slowestOf(outcomes);
    if (slowest <= noticeableReferenceTime(this.limits)) return { calls, slowestMilliseconds: slowest };
    // This time moves the limit of every answer, so it is measured where little else slows it down.
    const again = await this.gate.apart(() => runner.run(job));
    return { calls, slowestMilliseconds: Math.min(slowest, slowestOf(again.calls.map(plainOutcome))) };
  }

  private key({ task, mode, runner }: ReferenceQuestion): string {
    const { ceilingMilliseconds, timeOuts, memoryMegabytes } = this.limits;
    const content = [
      outcomeVersion,
      runner.version,
      mode,
      [ceilingMilliseconds, timeOuts, memoryMegabytes],
      task.reference,
      task.testCases.map(({ call }) => call),
    ];
    return createHash('sha256').update(JSON.stringify(content)).digest('hex');
  }
}

function referenceJob(task: ProgramTask, mode: GradingMode, limits: GradingLimits): Job {
  const calls = task.testCases.map(({ call }) => call);
  return {
    source: task.reference,
    calls,
    start: 0,
    mode,
    limitMilliseconds: limits.ceilingMilliseconds,
    seed: seedOf(calls),
    ...namesOf(task),
  };
}

/** `own` are the names in the tests that the source defines, although some may be those of built-ins. */
export function namesOf({ reference, testCases }: ProgramTask): Pick<Job, 'own' | 'imported'> {
  const { defined, imported } = topLevelOf(reference);
  const used = wordsOf(testCases.map(({ call }) => call).join('\n'));
  return {
    own: [...defined, ...imported].filter((name) => used.has(name)),
    imported: [...imported].filter((name) => used.has(name) && !defined.has(name)),
  };
}

function slowestOf(calls: readonly CallOutcome[]): number {
  return Math.max(0, ...calls.map((call) => (call.kind === 'value' ? call.milliseconds : 0)));
}

/**
 * One sentence for each test on which nothing can be compared; undefined where the reference gives a value. A reference
 * that returns None on every test has no result to compare (it prints, or forgets to return); None among other values
 * is a value like any other, except in `paper`, where it never passes.
 */
export function referenceFailures(calls: readonly CallOutcome[], mode: GradingMode): (string | undefined)[] {
  const alwaysNone = calls.every((call) => call.kind === 'value' && call.none);
  return calls.map((call) => {
    switch (call.kind) {
      case 'timed-out':
        return 'The reference does not finish in time on this test.';
      case 'error':
        return `The reference fails on this test: ${call.type}: ${call.message}`;
      case 'value':
        if (alwaysNone) return 'The reference returns None on every test.';
        if (call.none && mode === 'paper') return 'The reference returns None on this test.';
        if (call.canonical !== null) return undefined;
        return `The reference returns a value that equals nothing (${call.display}).`;
    }
  });
}

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
