import { availableParallelism } from 'node:os';
import { Fault } from '../fault';
import type { ProgramTask } from '../task/task';
import { runFairly, Gate, answerLimit, defaultLimits, type GradingLimits } from './fairRun';
import { OutcomeCache, type CachePlace, type ReferenceOutputs } from './referenceCache';
import { extractCode } from './code';
import { graderVersion, type Grade, type GradingMode, type TestResult } from './grade';
import { believable, judge, missingHere, notGradable } from './judgement';
import { importsElsewhere, isNowhere, lacking, MissingModules } from './modules';
import { decided } from './decision';
import type { OpenNative, Unavailable } from './native/native';
import { namesOf, References, referenceFailures, weaknesses } from './reference';
import { plainOutcome } from './outcome';
import { seedOf, type Call, type CallOutcome, type Job, type Reply, type Runner } from './runner';
import { calledNames } from './source';
import { WasiPool } from './wasi/pool';
import { createHash } from 'node:crypto';

export interface GradeOptions {
  readonly mode: GradingMode;
  readonly signal?: AbortSignal;
}

/** Scores answers by running them where they can reach nothing. Any number of calls may be in progress. */
export interface Grader {
  /**
   * @param answer what the agent gave as its final answer: code, with or without a fence
   * @throws Fault when grading itself is broken here, never for what the answer does
   */
  grade(task: ProgramTask, answer: string, options: GradeOptions): Promise<Grade>;
  /** One sentence for each test on which the task's reference gives nothing to compare with. */
  checkReference(
    task: ProgramTask,
    options?: { readonly mode?: GradingMode; readonly signal?: AbortSignal },
  ): Promise<readonly string[]>;
  /** One sentence for each kind of answer that the task's tests cannot tell from a right one. */
  weakTests(task: ProgramTask, options?: { readonly signal?: AbortSignal }): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Runs answers where they can reach nothing, without a task. */
export interface AnswerRunner {
  /**
   * Gives the outcome of each call; each has as much time as with a fast reference.
   * @throws as `Grader.grade`
   */
  run(
    answer: string,
    calls: readonly string[],
    options?: { readonly signal?: AbortSignal },
  ): Promise<readonly CallOutcome[]>;
}

export interface GraderOptions {
  /** Folder of grader.js, python.wasm and python.image, and for the native runner the folders `native` and `evaluation`. */
  readonly assets: string;
  /** The number of processors by default. */
  readonly workers?: number;
  /** Where reference outputs are kept between sessions; without it they are kept in memory only. */
  readonly cache?: CachePlace;
  readonly limits?: Partial<GradingLimits>;
  /**
   * Opens the runner for numpy and the like when the first answer needs it; the grader closes it. Without it such
   * answers are not gradable.
   */
  readonly native?: OpenNative;
}

/** @throws Fault when the files are not in `assets`; the interpreter itself starts with the first answer */
export async function createGrader(options: GraderOptions): Promise<Grader & AnswerRunner> {
  const limits = { ...defaultLimits, ...options.limits };
  const workers = Math.max(1, options.workers ?? availableParallelism());
  const { assets, cache, native } = options;
  const pool = await WasiPool.open({ assets, workers, memoryMegabytes: limits.memoryMegabytes });
  return new SandboxGrader(pool, native, limits, new OutcomeCache(cache));
}

class SandboxGrader implements Grader, AnswerRunner {
  private opened: ReturnType<OpenNative> | undefined;
  private closed = false;
  private readonly gate: Gate;
  private readonly references: References;
  private readonly lacks: MissingModules;

  constructor(
    private readonly pool: WasiPool,
    private readonly openNative: OpenNative | undefined,
    private readonly limits: GradingLimits,
    cache: OutcomeCache,
  ) {
    // The gate admits twice as many jobs as can run, so that a worker's next job is there when it has done the last.
    this.gate = new Gate(2 * pool.width, pool.width);
    this.references = new References(this.gate, limits, cache);
    this.lacks = new MissingModules(this.gate, limits);
  }

  async grade(task: ProgramTask, answer: string, options: GradeOptions): Promise<Grade> {
    return { grader: graderVersion, ...(await this.judged(task, answer, options)) };
  }

  private async judged(task: ProgramTask, answer: string, { mode, signal }: GradeOptions): Promise<Grade> {
    signal?.throwIfAborted();
    const calls = task.testCases.map(({ call }) => call);
    const code = extractCode(answer, mode, calls);
    const banned = mode === 'paper' ? bannedText(code) : undefined;
    if (banned !== undefined) return allBanned(task, banned);
    if (importsElsewhere(code) || importsElsewhere(task.reference)) {
      const native = await abortable(this.native(), signal);
      signal?.throwIfAborted();
      if (native !== undefined && !('unavailable' in native)) {
        return (await this.gradeOn(native, task, code, mode, signal)).grade;
      }
    }
    const first = await this.gradeOn(this.pool, task, code, mode, signal);
    if (first.unavailable === undefined || isNowhere(first.unavailable)) return first.grade;
    const native = await abortable(this.native(), signal);
    signal?.throwIfAborted();
    if (native === undefined) return first.grade;
    if ('unavailable' in native) return because(first.grade, native.unavailable);
    const second = await this.gradeOn(native, task, code, mode, signal);
    return second.grade;
  }

  async run(
    answer: string,
    calls: readonly string[],
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<readonly CallOutcome[]> {
    const job: Job = {
      source: extractCode(answer, 'fixed', calls),
      calls,
      start: 0,
      mode: 'fixed',
      limitMilliseconds: answerLimit(this.limits, 0),
      seed: seedOf(calls),
      own: calledNames(calls).slice(0, 1),
      imported: [],
    };
    const outcomesOn = async (runner: Runner): Promise<readonly CallOutcome[]> =>
      (await abortable(runFairly(runner, this.gate, job, this.limits, signal), signal)).map(plainOutcome);
    signal?.throwIfAborted();
    const outcomes = await outcomesOn(this.pool);
    if (!outcomes.some(lacking)) return outcomes;
    const native = await abortable(this.native(), signal);
    return native === undefined || 'unavailable' in native ? outcomes : outcomesOn(native);
  }

  async checkReference(
    task: ProgramTask,
    { mode = 'fixed', signal }: { mode?: GradingMode; signal?: AbortSignal } = {},
  ): Promise<readonly string[]> {
    const outputs = await this.referenceAnywhere(task, mode, signal);
    const missing = outputs.calls.map(lacking).find((name) => name !== undefined);
    if (missing !== undefined) return [missingHere('reference', missing)];
    return referenceFailures(outputs.calls, mode).flatMap((reason, index) =>
      reason === undefined ? [] : [`${task.testCases[index]!.name}: ${reason}`],
    );
  }

  async weakTests(task: ProgramTask, { signal }: { signal?: AbortSignal } = {}): Promise<readonly string[]> {
    const { calls } = await this.referenceAnywhere(task, 'fixed', signal);
    return weaknesses(task, calls);
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.pool.close(), this.closeNative()]);
  }

  private async closeNative(): Promise<void> {
    const [native] = await Promise.allSettled([this.opened]);
    if (native.status === 'rejected' || native.value === undefined || 'unavailable' in native.value) return;
    await native.value.close();
  }

  private async native(): Promise<Runner | Unavailable | undefined> {
    if (this.closed) throw new Fault('grading/closed', 'The grader is closed.');
    const opening = (this.opened ??= this.openNative?.());
    try {
      return await opening;
    } catch (error) {
      if (this.opened === opening) this.opened = undefined;
      throw error;
    }
  }

  private async referenceAnywhere(
    task: ProgramTask,
    mode: GradingMode,
    signal: AbortSignal | undefined,
  ): Promise<ReferenceOutputs> {
    const outputs = await abortable(this.references.outputs({ task, mode, runner: this.pool }), signal);
    if (!outputs.calls.some(lacking) && !importsElsewhere(task.reference)) return outputs;
    const native = await abortable(this.native(), signal);
    if (native === undefined || 'unavailable' in native) return outputs;
    return abortable(this.references.outputs({ task, mode, runner: native }), signal);
  }

  /** Runs reference and answer on the same runner, so that what differs between runners cannot change a score. */
  private async gradeOn(
    runner: Runner,
    task: ProgramTask,
    code: string,
    mode: GradingMode,
    signal: AbortSignal | undefined,
  ): Promise<{ grade: Grade; unavailable?: string }> {
    const reference = await abortable(this.references.outputs({ task, mode, runner }), signal);
    const missing = reference.calls.map(lacking).find((name) => name !== undefined);
    const failures = referenceFailures(reference.calls, mode);
    const limitMilliseconds = answerLimit(this.limits, reference.slowestMilliseconds);
    const evidence = { mode, reference: reference.calls, limitMilliseconds };
    if (missing !== undefined || failures.every((reason) => reason !== undefined)) {
      return {
        grade: judge({ ...evidence, answer: [] }),
        ...(missing === undefined ? {} : { unavailable: missing }),
      };
    }
    const job: Job = {
      source: code,
      calls: answerCalls(task, reference.calls, failures),
      start: 0,
      mode,
      limitMilliseconds,
      seed: seedOf(task.testCases.map(({ call }) => call)),
      ...namesOf(task),
    };
    const run = (other: Partial<Job>): Promise<readonly Reply[]> =>
      abortable(runFairly(runner, this.gate, { ...job, ...other }, this.limits, signal), signal);
    const outcomes = await decided(reference.calls, await run(job), {
      source: (calls) => run({ calls }),
      pristine: (calls) => run({ source: task.reference, calls }),
    });
    const answer = await abortable(
      believable(outcomes, code, (name) => this.lacks.has(runner, name)),
      signal,
    );
    const unavailable = answer.map(lacking).find((name) => name !== undefined);
    return { grade: judge({ ...evidence, answer }), ...(unavailable === undefined ? {} : { unavailable }) };
  }
}

function because(grade: Grade, unavailable: string): Grade {
  if (grade.notGradable === undefined) return grade;
  return { ...grade, notGradable: `${grade.notGradable} ${unavailable}` };
}

/**
 * One call for each test. Tests that cannot count are not run: the answer may rightly loop where the reference does.
 * The answer sees only one side of a comparison, and only the questions of a test that decides something.
 */
function answerCalls(
  task: ProgramTask,
  reference: readonly CallOutcome[],
  failures: readonly (string | undefined)[],
): readonly Call[] {
  return task.testCases.map(({ call }, index) => {
    if (failures[index] !== undefined) return 'None';
    const outcome = reference[index];
    if (outcome?.kind !== 'value') return call;
    if (outcome.decision !== undefined) return { ask: outcome.decision.questions };
    return outcome.comparison?.call ?? call;
  });
}

function allBanned(task: ProgramTask, banned: string): Grade {
  const message = `The published grader scores an answer 0 that contains "${banned}" anywhere.`;
  const tests = task.testCases.map(() => ({ status: 'error' as const, type: 'BannedText', message }));
  return tests.length === 0
    ? notGradable('paper', tests, 'The task has no tests.', 0)
    : { mode: 'paper', reward: 0, success: false, tests };
}

/** Stops waiting on abort. The work itself continues for others who wait for it too. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  // After an abort no one waits for the work; its failure would be an unhandled rejection, which ends the process.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let abort: () => void;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort!);
  }
}

/** Texts that the published grader bans anywhere in an answer, comments included, as far as they are known. */
const bannedTexts = ['import os'];

function bannedText(code: string): string | undefined {
  return bannedTexts.find((text) => code.includes(text));
}

/** About 2 kB each; the least recently used is dropped. */
const MAX_GRADES = 4_000;

/**
 * Makes a grader run an answer once, however often it is given: an agent that is trained often gives the same one. A
 * grade that may be due to the day or the machine is not kept: one with a test that timed out or crashed, and one that
 * says that the answer cannot be graded here.
 */
export function remembering(grader: Grader): Grader {
  const grades = new Map<string, Grade>();
  return {
    grade: async (task, answer, options) => {
      options.signal?.throwIfAborted();
      const content = JSON.stringify([options.mode, task.reference, task.testCases, answer]);
      const key = createHash('sha256').update(content).digest('base64');
      const grade = grades.get(key) ?? (await grader.grade(task, answer, options));
      // A Map lists its keys in the order of insertion, so the first is the least recently used.
      grades.delete(key);
      if (isLasting(grade)) grades.set(key, grade);
      if (grades.size > MAX_GRADES) grades.delete(grades.keys().next().value!);
      return grade;
    },
    checkReference: (...of) => grader.checkReference(...of),
    weakTests: (...of) => grader.weakTests(...of),
    close: () => grader.close(),
  };
}

const isLasting = ({ reward, tests }: Grade): boolean => reward !== null && !tests.some(isOfTheDay);

const isOfTheDay = (test: TestResult): boolean =>
  test.status === 'timed-out' || (test.status === 'error' && test.type === 'InterpreterCrash');
