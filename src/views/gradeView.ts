import { debriefOf, type Debrief, type IgnoredNumber } from '../core/dialogue/debrief';
import { hasCode } from '../core/dialogue/markers';
import { verdictOf, type Grade, type PageMeasure, type TestResult } from '../core/grading/grade';
import { isProgram, testsOf, type Task, type PageTask } from '../core/task/task';
import type { Turn } from '../core/trajectory/trajectory';
import type { DebriefLine, GradeView, PageGradeView, TestView } from '../../webview/session/protocol';
import type { TranslateSentence } from './translate';
import type { FailurePattern } from '../core/grading/failurePatterns';
import { differencesOf } from '../core/page/differences';
import { differenceInWords } from '../core/page/outlineWords';
import type { PageReader } from '../core/page/outline';
import { inOneLine } from '../core/text';

export interface GradedDialogue {
  readonly task: Task;
  readonly turns: readonly Turn[];
  /** That was graded, where it is known: when it has no code, the tests need not repeat that. */
  readonly answer?: string;
  readonly own?: string;
  readonly differences?: readonly string[] | undefined;
}

export function gradeView(dialogue: GradedDialogue, grade: Grade, t: TranslateSentence): GradeView {
  const { task, answer } = dialogue;
  if (answer !== undefined && isSyntaxError(grade) && !hasCode(answer)) return withoutCode(task, grade, t);
  const debrief = debriefIn(dialogue, grade, t);
  // A page does not pass.
  const verdict = grade.page === undefined ? verdictOf(grade) : undefined;
  return {
    headline: headlineOf(grade, t),
    ...(verdict && { verdict }),
    mode: grade.mode,
    ...(debrief.length > 0 && { debrief }),
    tests: grade.tests.map((test, index) => testView(testsOf(task)[index]?.call ?? '', test, t)),
    ...(grade.page && { page: pageGradeView(grade.page, t) }),
  };
}

function pageGradeView(
  { measure, version, parts, drafts, renderer }: PageMeasure,
  t: TranslateSentence,
): PageGradeView {
  const names: Readonly<Record<string, string>> = {
    texts: t('texts'),
    colors: t('colors'),
    pictures: t('pictures'),
    height: t('height'),
  };
  return {
    measure: t('{0}, version {1}', measure, version),
    parts: Object.entries(parts).map(([part, score]) => [names[part] ?? part, score] as const),
    drafts,
    ...(renderer !== 'none' && { renderer }),
  };
}

function debriefIn(
  { task, turns, answer, own, differences = [] }: GradedDialogue,
  grade: Grade,
  t: TranslateSentence,
): DebriefLine[] {
  if (grade.page !== undefined) return differenceLines(differences, t);
  if (answer === undefined || grade.success === null || !isProgram(task)) return [];
  const options = { own, hasPassed: grade.success, tests: grade.tests.length };
  return debriefLines(debriefOf({ task, turns, answer, grade }), options, t);
}

const isSyntaxError = ({ tests }: Grade): boolean =>
  tests.length > 0 && tests.every((test) => test.status === 'error' && test.type === 'SyntaxError');

/** Replaces the tests' results when the answer has no code: a syntax error in every test would not explain that. */
function withoutCode(task: Task, { mode, tests }: Grade, t: TranslateSentence): GradeView {
  return {
    headline: t('The answer has no code, so no test can pass'),
    verdict: 'failed',
    mode,
    tests: tests.map((_, index) => ({
      call: testsOf(task)[index]?.call ?? '',
      status: 'error',
      got: t('no code'),
    })),
  };
}

function headlineOf({ notGradable, reward, tests, page }: Grade, t: TranslateSentence): string {
  if (page !== undefined) return t('Score {0}', page.score.toFixed(2));
  if (reward === null) {
    return notGradable === undefined
      ? t('This answer cannot be graded here: the grader gave no reason.')
      : t('This answer cannot be graded here: {0}', notGradable);
  }
  // Imported rows have only the fraction of tests that passed.
  if (tests.length === 0) return t('{0} % of the tests passed', Math.round(reward * 100));
  const passed = tests.filter((test) => test.status === 'passed').length;
  return t('{0} of {1} tests passed', passed, tests.length);
}

function testView(call: string, test: TestResult, t: TranslateSentence): TestView {
  switch (test.status) {
    case 'passed':
      return { call, status: 'passed', milliseconds: test.milliseconds };
    case 'wrong': {
      const { expected, got, milliseconds } = test;
      return { call, status: 'wrong', expected, got, milliseconds };
    }
    case 'error': {
      const said = `${test.type}: ${test.message}`;
      const got = test.line === undefined ? said : t('{0} (line {1})', said, test.line);
      return { call, status: 'error', got };
    }
    case 'timed-out':
      return {
        call,
        status: 'timed-out',
        got: t('no result within {0} ms', Math.round(test.limitMilliseconds)),
      };
    case 'not-gradable':
      return { call, status: 'not-gradable', got: test.reason };
  }
}

const MAX_PATTERNS = 3;
const MAX_DIFFERENCES = 8;
const MAX_CALL_CHARS = 80;

export function debriefLines(
  { decided, unasked, ignored, patterns }: Debrief,
  { own, hasPassed, tests }: { own: string | undefined; hasPassed: boolean; tests: number },
  t: TranslateSentence,
): DebriefLine[] {
  const topics = unasked.join(', ');
  const unaskedWords = hasPassed
    ? t('Never asked, but the tests pass: {0}', topics)
    : t('Never asked: {0}', topics);
  return [
    ...(decided.length === unasked.length ? [] : [t('Decided by the task: {0}', decided.join(', '))]),
    ...(unasked.length === 0 ? [] : [unaskedWords]),
    ...ignoredWords(ignored, own, t),
  ]
    .map((text): DebriefLine => ({ text }))
    .concat(
      patterns.slice(0, MAX_PATTERNS).map((pattern) => ({
        text: t('{0} of {1} tests: {2}, as in', pattern.count, tests, patternWords(pattern, t)),
        call: shortened(inOneLine(pattern.call)),
      })),
    );
}

/**
 * What a person would still ask to be changed, most visible first, in English as the pages are compared.
 * @param answer HTML
 */
export async function pageDifferences(
  answer: string,
  { reference }: PageTask,
  pages: PageReader,
): Promise<readonly string[]> {
  const wanted = await pages.outlineOf(reference);
  return differencesOf(await pages.outlineOf(answer), wanted).map((difference) =>
    differenceInWords(difference, wanted),
  );
}

export function differenceLines(differences: readonly string[], t: TranslateSentence): DebriefLine[] {
  const left = differences.length - MAX_DIFFERENCES;
  return [
    ...differences.slice(0, MAX_DIFFERENCES).map((text) => ({ text })),
    ...(left > 0 ? [{ text: t('{0} smaller differences not shown', left) }] : []),
  ];
}

const shortened = (call: string): string =>
  call.length > MAX_CALL_CHARS ? `${call.slice(0, MAX_CALL_CHARS)}…` : call;

function ignoredWords(
  ignored: readonly IgnoredNumber[],
  own: string | undefined,
  t: TranslateSentence,
): string[] {
  const bySpeaker = Map.groupBy(ignored, ({ reply }) =>
    reply.author === 'simulator' ? undefined : reply.by,
  );
  return [...bySpeaker].map(([speaker, some]) => {
    const numbers = some
      .map(({ number, topic }) => (topic === undefined ? number : t('{0} ({1})', number, topic)))
      .join(', ');
    if (speaker === undefined) return t('The simulator said {0}: not in the code', numbers);
    return speaker === own
      ? t('You said {0}: not in the code', numbers)
      : t('{0} said {1}: not in the code', speaker, numbers);
  });
}

function patternWords(pattern: FailurePattern, t: TranslateSentence): string {
  switch (pattern.kind) {
    case 'empty':
      return t('only an empty input fails');
    case 'error':
      return pattern.type;
    case 'timed-out':
      return t('no result in time');
    case 'none':
      return t('the result is None');
    case 'type':
      return t('got {0}, expected {1}', pattern.got, pattern.expected);
    case 'maximum':
      return t('expected {0}, got more', pattern.value);
    case 'minimum':
      return t('expected {0}, got less', pattern.value);
    case 'sign':
      return t('the sign is wrong');
    case 'factor':
      return Math.abs(pattern.factor) > 1
        ? t('the result is {0} times the expected value', short(pattern.factor))
        : t('the expected value is {0} times the result', short(1 / pattern.factor));
    case 'difference':
      return pattern.difference > 0
        ? t('{0} too high', short(pattern.difference))
        : t('{0} too low', short(-pattern.difference));
    case 'fraction':
      return t('expected a whole number, got a fraction');
    case 'near':
      return t('off by less than {0}', pattern.below);
    case 'order':
      return t('right elements, wrong order');
    case 'case':
      return t('only upper and lower case differ');
    case 'spaces':
      return t('only spaces differ');
  }
}

const short = (value: number): string => String(Number(value.toPrecision(6)));
