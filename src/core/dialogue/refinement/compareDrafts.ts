import { extractCode } from '../../grading/code';
import type { AnswerRunner } from '../../grading/grader';
import { areEqual } from '../../grading/outcome';
import type { CallOutcome } from '../../grading/runner';
import {
  callsOf,
  pythonOf,
  trialsOf,
  type DraftCall,
  parametersOf,
  type Parameter,
  valuesOf,
} from './draftCalls';

/** A call on which drafts give different results. */
export interface Disagreement {
  readonly call: DraftCall;
  readonly parameters: readonly Parameter[];
  /** As Python shows them, in the order of the drafts; undefined where a draft fails with an error. */
  readonly results: readonly (string | undefined)[];
}

export interface Comparison {
  /** Place of the draft that most others agree with, the first of equal ones. */
  readonly majority: number;
  /** Undefined if the drafts agree, or cannot be compared. */
  readonly disagreement?: Disagreement;
}

/** A longer result does not fit a question. */
const MAX_RESULT_CHARS = 80;

/**
 * Runs drafts of one function on the same calls, which are made of their own constants. No test of the task is used.
 * @param drafts answers of an agent, code with or without a fence
 * @param isAsked true for what the agent has asked about already
 */
export async function compareDrafts(
  drafts: readonly string[],
  { name, description }: { readonly name: string; readonly description: string },
  runner: AnswerRunner,
  isAsked: (disagreement: Disagreement) => boolean,
  signal?: AbortSignal,
): Promise<Comparison> {
  const codes = drafts.map((draft) => extractCode(draft, 'fixed', [`${name}()`]));
  const parameters = codes.map((code) => parametersOf(code, name)).find((found) => found !== undefined);
  if (parameters === undefined || parameters.length === 0 || new Set(codes).size === 1)
    return { majority: 0 };
  const run = async (calls: readonly DraftCall[]): Promise<readonly (readonly CallOutcome[])[]> => {
    const texts = calls.map(pythonOf);
    const byCode = new Map<string, Promise<readonly CallOutcome[]>>();
    for (const code of codes) if (!byCode.has(code)) byCode.set(code, runner.run(code, texts, { signal }));
    return Promise.all(codes.map((code) => byCode.get(code)!));
  };
  const values = valuesOf(codes, description);
  const trials = trialsOf(name, parameters, values);
  const tried = await run(trials.map(({ call }) => call));
  const working = trials.map((_, at) => tried.filter((outcomes) => outcomes[at]?.kind === 'value').length);
  const most = Math.max(...working);
  if (most === 0) return { majority: 0 };
  const calls = callsOf(name, trials[working.indexOf(most)]!.kinds, values);
  const outcomes = await run(calls);
  // A draft that always fails is broken, and has no opinion.
  const sound = outcomes.map((each) => each.some(({ kind }) => kind === 'value'));
  const opinions = outcomes.map((each, place) => (sound[place] ? each : undefined));
  const disagreements = calls.flatMap((call, at): Disagreement[] => {
    const results = distinctResults(opinions.flatMap((each) => each?.[at] ?? []));
    return results.length > 1 ? [{ call, parameters, results }] : [];
  });
  const open = disagreements.filter((each) => each.results.every(isShort) && !isAsked(each));
  // Two values are easier to answer than a value and an error, which may only mean that no one calls it like this.
  const easy = open.find(({ results }) => results.every((result) => result !== undefined));
  return { majority: majorityOf(opinions), disagreement: easy ?? open[0] };
}

type Opinion = readonly CallOutcome[] | undefined;

/** What the outcomes say nothing about counts as equal: a time-out, or a value that equals nothing. */
function differ(one: CallOutcome, other: CallOutcome): boolean {
  if (isUnknown(one) || isUnknown(other)) return false;
  if (one.kind !== 'value' || other.kind !== 'value') return one.kind !== other.kind;
  return !areEqual(one.canonical!, other.canonical!);
}

const isUnknown = (outcome: CallOutcome): boolean =>
  outcome.kind === 'timed-out' ||
  (outcome.kind === 'value' ? outcome.canonical === null : outcome.missingModule !== undefined);

function majorityOf(opinions: readonly Opinion[]): number {
  const agrees = (one: Opinion, other: Opinion): boolean =>
    one !== undefined && other !== undefined && one.every((each, at) => !differ(each, other[at]!));
  const votes = opinions.map((one) => opinions.filter((other) => agrees(one, other)).length);
  return votes.indexOf(Math.max(...votes));
}

const isShort = (result = ''): boolean => result.length <= MAX_RESULT_CHARS;

function distinctResults(outcomes: readonly CallOutcome[]): readonly (string | undefined)[] {
  const known = outcomes.filter((each) => !isUnknown(each));
  const different = known.filter((each, at) => known.findIndex((other) => !differ(other, each)) === at);
  return different.map((each) => (each.kind === 'value' ? each.display : undefined));
}
