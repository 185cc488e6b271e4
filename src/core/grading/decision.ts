import type { Answered, Call, CallOutcome, Question, Reply } from './runner';
import { plainOutcome, tampered } from './outcome';

/**
 * What counts as a question to the source, from the least to the most: calls, chains of calls, attributes and indices, whole
 * sides of comparisons. A reference that returns an object of its own class can be asked for more only.
 */
const levels = [0, 1, 2] as const;
/** A test that asks more often one after the other is not decided; the reference's own number of questions counts too. */
const mostRounds = 200;

/** Evaluates calls, one for each test of the task, and gives a reply to each. */
export type Evaluate = (calls: readonly Call[]) => Promise<readonly Reply[]>;

export interface Interpreters {
  /** Where the source runs that is asked. */
  readonly source: Evaluate;
  /** Where nothing but the reference runs. */
  readonly pristine: Evaluate;
}

/** How far a test that is evaluated in two interpreters has come. */
interface Open {
  readonly test: string;
  readonly level: number;
  questions: readonly Question[];
  told: readonly Answered[];
  /** The source's outcome of the question after those that are told. */
  failed: CallOutcome | undefined;
  milliseconds: number;
  outcome?: CallOutcome;
}

/**
 * The outcomes of a reference with what is to be asked on the tests that decide something, so that no object and no patch of an
 * answer decides it. A test stays as it is when the reference, asked that way, does not give the same: it returns
 * objects of its own class, for example, which cannot leave its interpreter.
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
      if (expected === null || outcome.canonical !== expected) continue;
      found[index] = { ...live, decision: { test, level, questions } };
    }
  }
  return found;
}

/**
 * The outcomes of an answer from its replies.
 * @param reference outcomes of the reference, with decisions
 */
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

/** Evaluates each test on what is told so far, asks the source what is missing, and so on. */
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

/** What the rest of the test says on what is told: its outcome, or the next question. */
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

/** What an error says of the source; the rest of a test has no lines there. */
interface OfAnError {
  readonly line?: number;
  readonly missingModule?: string;
}

/** What the source replies to the questions. */
function take(state: Open, reply: Reply): void {
  if (reply.kind !== 'told') {
    // Only an answer that replies in place of its interpreter gives a value here.
    state.outcome = reply.kind === 'error' || reply.kind === 'timed-out' ? reply : tampered;
    return;
  }
  const { questions } = state;
  const told: Answered[] = [];
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

function isSame(one: Question, other: Question | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
