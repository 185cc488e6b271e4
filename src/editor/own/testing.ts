import * as vscode from 'vscode';
import * as z from 'zod';
import type { Grade } from '../../core/grading/grade';
import type { Engine } from '../engine';
import { claimsAbout } from './claims';

const { t } = vscode.l10n;

const answerSchema = z.object({ code: z.string(), name: z.string() });

/**
 * Runs an answer in the grader against the asserts of the workspace's tests about its function, and shows the result.
 */
export async function testAnswer(engine: Engine, what: unknown): Promise<void> {
  const answer = answerSchema.safeParse(what).data;
  if (answer === undefined) return;
  const claims = await claimsAbout(answer.name);
  if (claims.length === 0) {
    void vscode.window.showInformationMessage(
      t(
        'No test file here has an assert about {0} that stands alone, such as assert {0}(…) == ….',
        answer.name,
      ),
    );
    return;
  }
  const { checkable, checkTask } = await import('../../core/task/checks');
  const grade = await withProgress(t('Running the tests of {0}', answer.name), async (signal) =>
    (await engine.grader()).grade(checkTask(claims, answer.name), checkable(answer.code), {
      mode: 'fixed',
      signal,
    }),
  );
  if (grade !== undefined) tell(grade, claims);
}

/** Returns undefined when the person cancelled it. */
export async function withProgress<T>(
  title: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const location = vscode.ProgressLocation.Notification;
  return vscode.window.withProgress({ location, title, cancellable: true }, async (_, token) => {
    const controller = new AbortController();
    token.onCancellationRequested(() => controller.abort());
    try {
      return await run(controller.signal);
    } catch (error) {
      if (controller.signal.aborted) return undefined;
      throw error;
    }
  });
}

function tell(grade: Grade, claims: readonly string[]): void {
  if (grade.success === null) {
    const why = grade.notGradable ?? t('the grader gave no reason');
    void vscode.window.showWarningMessage(t('This answer cannot be tested here: {0}', why));
    return;
  }
  const passed = grade.tests.filter(({ status }) => status === 'passed').length;
  const all = t('{0} of {1} tests passed', passed, grade.tests.length);
  const failing = grade.tests.findIndex(({ status }) => status !== 'passed');
  if (failing === -1) void vscode.window.showInformationMessage(`${all}.`);
  else void vscode.window.showWarningMessage(t('{0}. The first that fails: {1}', all, claims[failing]!));
}
