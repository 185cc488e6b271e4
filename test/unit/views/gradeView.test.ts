import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/core/grading/grade';
import { gradeView } from '../../../src/views/gradeView';
import { english } from '../editor/translate';
import { parcelSurcharge as task } from '../../fixtures/parcel-task';

describe('a grade', () => {
  it('says how many tests passed, and what each failing one gave', () => {
    const tests = [
      { status: 'passed', milliseconds: 1 },
      { status: 'error', type: 'KeyError', message: '3', line: 2 },
    ] as const;
    const view = gradeView(
      { task, turns: [] },
      { mode: 'fixed', reward: 0.5, success: false, tests },
      english,
    );
    expect(view.headline).toBe('1 of 2 tests passed');
    expect(view.tests[1]).toEqual({ call: 'price(2, 2)', status: 'error', got: 'KeyError: 3 (line 2)' });
  });

  it('of words says once that they are no code, not in every test', () => {
    const error: TestResult = { status: 'error', type: 'SyntaxError', message: 'invalid syntax', line: 1 };
    const failed = { mode: 'fixed' as const, reward: 0, success: false, tests: [error, error] };
    const view = (answer?: string) => gradeView({ task, turns: [], answer }, failed, english);
    expect(view('How heavy is a heavy parcel?').tests.map(({ got }) => got)).toEqual(['no code', 'no code']);
    for (const code of [undefined, 'def price(kg, zone) return 2', '```\nprice(\n```'])
      expect(view(code).tests[0]!.got).toBe('SyntaxError: invalid syntax (line 1)');
  });

  it('that could not be given is no zero', () => {
    const view = gradeView(
      { task, turns: [] },
      { mode: 'fixed', reward: null, success: null, tests: [], notGradable: 'numpy is missing here.' },
      english,
    );
    expect(view.headline).toContain('numpy is missing here.');
    expect(view.verdict).toBeUndefined();
  });
});
