import type { AnsweredQuestion, Call, CallOutcome, TestQuestion, Reply } from './runner';
import { areEqual, plainOutcome, tampered } from './outcome';

/**
 * Levels of what counts as a question to the source, from the least to the most: calls; chains of calls, attributes and
 * indices; whole sides of comparisons. A reference that returns an object of its own class needs a higher level.
 */
const levels = [0, 1, 2] as const;
/** Maximum number of questions that a test asks one after the other; a reference that needs more gets no decision. */
const mostRounds = 200;

export type Evaluate = (calls: readonly Call[]) => Promise<readonly Reply[]>;

interface Interpreters {
  /** Runs in the interpreter of the source. */
  readonly source: Evaluate;
  /** Runs where there was nothing but the reference. */
  readonly pristine: Evaluate;
}

interface Open {
  readonly test: string;
  readonly level: number;
  questions: readonly TestQuestion[];
  told: readonly AnsweredQuestion[];
  /** The source's outcome of the question after those that are told. */
  failed: CallOutcome | undefined;
  milliseconds: number;
  outcome?: CallOutcome;
}

/**
 * Adds to the outcomes of a reference the questions of the tests that decide something, so that no object and no patch
 * of an answer decides them. A test stays as it is when the reference, asked that way, does not give the same: it
 * returns objects of its own class, for example, which cannot leave its interpreter.
 */
export async function withDecisions(
  tests: readonly string[],
  outcomes: readonly CallOutcome[],
  interpreters: Interpreters,
): Promise<readonly CallOutcome[]> {
  const found = [...outcomes];
  for (const level of levels) {
    const open = new Map<number, Open>();
    for (const [index, outcome] of found.entries()) {
      if (outcome.kind !== 'value' || outcome.decides !== true || outcome.decision !== undefined) continue;
      const test = outcome.comparison?.call ?? tests[index]!;
      open.set(index, { test, level, questions: [], told: [], failed: undefined, milliseconds: 0 });
    }
    await settle(open, tests.length, interpreters);
    for (const [index, { test, questions, outcome }] of open) {
      const live = found[index]!;
      if (live.kind !== 'value' || outcome?.kind !== 'value') continue;
      const expected = live.comparison?.gave ?? live.canonical;
      if (expected === null || outcome.canonical === null || !areEqual(outcome.canonical, expected)) continue;
      found[index] = { ...live, decision: { test, level, questions } };
    }
  }
  return found;
}

export async function decided(
  reference: readonly CallOutcome[],
  replies: readonly Reply[],
  interpreters: Interpreters,
): Promise<readonly CallOutcome[]> {
  const open = new Map<number, Open>();
  for (const [index, expected] of reference.entries()) {
    const reply = replies[index]!;
    if (expected.kind !== 'value' || expected.decision === undefined) continue;
    const state = { ...expected.decision, told: [], failed: undefined, milliseconds: 0 };
    take(state, reply);
    open.set(index, state);
  }
  await settle(open, reference.length, interpreters);
  return replies.map((reply, index) => open.get(index)?.outcome ?? plainOutcome(reply));
}

/** Evaluates each test on what is told so far and asks the source for what is missing, until all is decided. */
async function settle(
  open: ReadonlyMap<number, Open>,
  tests: number,
  { source, pristine }: Interpreters,
): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    const undecided = [...open].filter(([, { outcome }]) => outcome === undefined);
    if (undecided.length === 0) return;
    const calls = (callOf: (state: Open) => Call): readonly Call[] =>
      Array.from({ length: tests }, (_, index) => {
        const state = open.get(index);
        return state === undefined || state.outcome !== undefined ? 'None' : callOf(state);
      });
    const said = await pristine(calls(({ test, level, told }) => ({ test, level, told })));
    for (const [index, state] of undecided) consider(state, said[index]!);
    if (undecided.every(([, { outcome }]) => outcome !== undefined)) return;
    const replies = await source(calls(({ questions }) => ({ ask: questions })));
    for (const [index, state] of undecided) if (state.outcome === undefined) take(state, replies[index]!);
  }
  for (const state of open.values()) {
    const display = 'a test that asks without end';
    state.outcome ??= { kind: 'value', canonical: null, none: false, display, milliseconds: 0 };
  }
}

/** The reply is the outcome of the rest of the test, or its next question. */
function consider(state: Open, said: Reply): void {
  const { questions, told, failed, milliseconds } = state;
  if (said.kind !== 'need') {
    const { line: _, missingModule: __, ...outcome } = plainOutcome(said) as CallOutcome & OfAnError;
    state.outcome = outcome.kind === 'value' ? { ...outcome, milliseconds } : outcome;
  } else if (failed !== undefined && said.at === told.length && isSame(said.question, questions[said.at])) {
    state.outcome = failed;
  } else {
    state.questions = [...questions.slice(0, said.at), said.question];
  }
}

/** Fields in which an error points into the source; the rest of a test has no lines there. */
interface OfAnError {
  readonly line?: number;
  readonly missingModule?: string;
}

function take(state: Open, reply: Reply): void {
  if (reply.kind !== 'told') {
    // Only an answer that replies in place of its interpreter gives a value here.
    state.outcome = reply.kind === 'error' || reply.kind === 'timed-out' ? reply : tampered;
    return;
  }
  const { questions } = state;
  const told: AnsweredQuestion[] = [];
  state.failed = undefined;
  for (const [at, result] of reply.results.entries()) {
    const question = questions[at];
    if (question === undefined || state.failed !== undefined) {
      state.outcome = tampered;
      return;
    }
    if ('data' in result) told.push({ ...question, data: result.data });
    else state.failed = result.outcome;
  }
  if (state.failed === undefined && told.length < questions.length) state.outcome = tampered;
  state.told = told;
  state.milliseconds = reply.milliseconds;
}

function isSame(one: TestQuestion, other: TestQuestion | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
