import { debriefOf } from '../../core/dialogue/debrief';
import { hasCode } from '../../core/dialogue/markers';
import { verdictOf, type Grade, type PageMeasure, type TestResult } from '../../core/grading/grade';
import { isProgram, testsOf, type Task } from '../../core/task/task';
import type { Turn } from '../../core/trajectory/trajectory';
import type { DebriefLine, GradeView, PageGradeView, TestView } from '../../../webview/session/protocol';
import type { Translate } from '../translate';
import { debriefLines, differenceLines } from './debrief';

export interface GradedDialogue {
  readonly task: Task;
  readonly turns: readonly Turn[];
  /** That was graded, where it is known: when it has no code, the tests need not repeat that. */
  readonly answer?: string;
  /** Pseudonym of the person at this editor, who is called “you”. */
  readonly own?: string;
  /** What a page still lacks, where that was looked for. */
  readonly differences?: readonly string[] | undefined;
}

export function gradeView(dialogue: GradedDialogue, grade: Grade, t: Translate): GradeView {
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
  t: Translate,
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
  t: Translate,
): DebriefLine[] {
  if (grade.page !== undefined) return differenceLines(differences, t);
  if (answer === undefined || grade.success === null || !isProgram(task)) return [];
  const options = { own, hasPassed: grade.success, tests: grade.tests.length };
  return debriefLines(debriefOf({ task, turns, answer, grade }), options, t);
}

const isSyntaxError = ({ tests }: Grade): boolean =>
  tests.length > 0 && tests.every((test) => test.status === 'error' && test.type === 'SyntaxError');

/** Replaces the tests' results when the answer has no code: a syntax error in every test would not explain that. */
function withoutCode(task: Task, { mode, tests }: Grade, t: Translate): GradeView {
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

function headlineOf({ notGradable, reward, tests, page }: Grade, t: Translate): string {
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

function testView(call: string, test: TestResult, t: Translate): TestView {
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
