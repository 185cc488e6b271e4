import { createHash } from 'node:crypto';
import type { Grade, TestResult } from './grade';
import type { Grader } from './grader';

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
