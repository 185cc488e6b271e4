import * as vscode from 'vscode';
import * as z from 'zod';
import type { Grade } from '../../core/grading/grade';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import { assertsAbout } from '../../core/task/python/asserts';
import { testFilesNaming } from './testFiles';

const { t } = vscode.l10n;

const answerSchema = z.object({ code: z.string(), name: z.string() });

/** Runs an answer in the grader against the workspace's asserts about its function. */
export async function testAnswer(engine: Engine, what: unknown): Promise<void> {
  const answer = answerSchema.safeParse(what).data;
  if (answer === undefined) return;
  const tested = await cancellable(t('Running the tests of {0}', answer.name), (signal) =>
    gradeByClaims(engine, answer, signal),
  );
  if (tested === undefined) return;
  const { claims, grade } = tested;
  if (grade === undefined) {
    void vscode.window.showInformationMessage(
      t(
        'No test file here has an assert about {0} that stands alone, such as assert {0}(…) == ….',
        answer.name,
      ),
    );
    return;
  }
  tell(grade, claims);
}

interface GradeByClaims {
  readonly claims: readonly string[];
  /** Absent when there are no claims. */
  readonly grade?: Grade;
}

async function gradeByClaims(
  engine: Engine,
  { code, name }: z.infer<typeof answerSchema>,
  signal: AbortSignal,
): Promise<GradeByClaims> {
  const claims = await claimsAbout(name, signal);
  if (claims.length === 0) return { claims };
  const { checkable, checkTask } = await import('../../core/grading/brokenClaim');
  const grader = await engine.grader();
  const grade = await grader.grade(checkTask(claims, name), checkable(code), { mode: 'fixed', signal });
  return { claims, grade };
}

/** Milliseconds of work before its progress is shown, so that work which is soon done shows none. */
const PROGRESS_DELAY_MS = 1_000;

/** As `cancellable`, but the progress is shown only when the work lasts. */
export async function withLateProgress<T extends object>(
  title: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  const controller = new AbortController();
  const running = run(controller.signal);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), PROGRESS_DELAY_MS);
  });
  try {
    const done = await Promise.race([running, late]);
    if (done !== undefined) return done;
  } finally {
    clearTimeout(timer);
  }
  return cancellable(title, (signal) => {
    signal.addEventListener('abort', () => controller.abort());
    return running;
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

/** From open Python files, then from the workspace's test files. @throws the signal's reason when it is aborted */
export async function claimsAbout(name: string, signal: AbortSignal): Promise<string[]> {
  const open = vscode.workspace.textDocuments.filter(({ languageId }) => languageId === 'python');
  const texts = open.map((document) => document.getText());
  for await (const { text } of testFilesNaming(name, { signal })) texts.push(text);
  return [...new Set(texts.flatMap((text) => assertsAbout(text, name)))];
}
