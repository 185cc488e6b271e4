import * as z from 'zod';
import * as vscode from 'vscode';
import { pause } from '../../core/training/pause';
import { MB, readBytes } from '../../core/regularFile';
import type { Grade } from '../../core/grading/grade';
import type { Engine } from '../engine';
import { cancellable } from '../progress';
import { assertsAbout } from '../../core/task/python/asserts';

const { t } = vscode.l10n;

/** Names of files in which Python's test runners look, or people put tests. */
const TEST_FILES = '**/{test_*,*_test,tests}.py';
const EXCLUDED = '**/{node_modules,.tandem,.git,.venv,venv,site-packages}/**';
const AT_ONCE = 16;

/**
 * In the order of their addresses, with their texts as the editor has them.
 * @param within the folder to search; the whole workspace when left out
 * @throws the signal's reason
 */
export async function* testFilesNaming(
  name: string,
  signal: AbortSignal,
  within?: vscode.WorkspaceFolder,
): AsyncGenerator<{ readonly uri: vscode.Uri; readonly text: string }> {
  const pattern = within === undefined ? TEST_FILES : new vscode.RelativePattern(within, TEST_FILES);
  const found = await filesMatching(pattern, signal);
  const files = found.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  const open = new Map(vscode.workspace.textDocuments.map((each) => [each.uri.toString(), each]));
  const word = new RegExp(`(?<![\\p{L}\\p{N}_])${name}(?![\\p{L}\\p{N}_])`, 'u');
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const some = files.slice(at, at + AT_ONCE);
    const texts = await Promise.all(some.map((uri) => textOf(uri, open.get(uri.toString()))));
    signal.throwIfAborted();
    for (const [index, uri] of some.entries()) {
      const text = texts[index]!;
      if (word.test(text)) yield { uri, text };
    }
  }
}

async function filesMatching(pattern: vscode.GlobPattern, signal: AbortSignal): Promise<vscode.Uri[]> {
  signal.throwIfAborted();
  const cancellation = new vscode.CancellationTokenSource();
  const cancel = (): void => cancellation.cancel();
  signal.addEventListener('abort', cancel);
  try {
    const found = await vscode.workspace.findFiles(pattern, EXCLUDED, undefined, cancellation.token);
    // A search that is cancelled finds only a part, or nothing.
    signal.throwIfAborted();
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
    cancellation.dispose();
  }
}

const MAX_TEST_FILE_BYTES = 16 * MB;

async function textOf(uri: vscode.Uri, open: vscode.TextDocument | undefined): Promise<string> {
  if (open !== undefined) return open.getText();
  try {
    const bytes =
      uri.scheme === 'file'
        ? await readBytes(uri.fsPath, MAX_TEST_FILE_BYTES)
        : await vscode.workspace.fs.readFile(uri);
    return new TextDecoder().decode(bytes);
  } catch {
    // The file was deleted after it was found, or cannot hold tests: a pipe, or one of many megabytes.
    return '';
  }
}

const answerSchema = z.object({ code: z.string(), name: z.string() });

/** Runs an answer in the grader against the workspace's asserts about its function. */
export async function testAnswer(engine: Engine, what: unknown): Promise<void> {
  const answer = answerSchema.safeParse(what).data;
  if (answer === undefined) return;
  const { code, name } = answer;
  const tested = await cancellable(t('Running the tests of {0}', name), async (signal) => {
    const claims = await claimsAbout(name, signal);
    if (claims.length === 0) return { claims };
    const { checkable, checkTask } = await import('../../core/grading/brokenClaim');
    const grader = await engine.grader();
    const grade = await grader.grade(checkTask(claims, name), checkable(code), { mode: 'fixed', signal });
    return { claims, grade };
  });
  if (tested === undefined) return;
  if (tested.grade !== undefined) tell(tested.grade, tested.claims);
  else
    void vscode.window.showInformationMessage(
      t('No test file here has an assert about {0} that stands alone, such as assert {0}(…) == ….', name),
    );
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
  const done = await Promise.race([running, pause(PROGRESS_DELAY_MS)]);
  if (done !== undefined) return done;
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
  for await (const { text } of testFilesNaming(name, signal)) texts.push(text);
  return [...new Set(texts.flatMap((text) => assertsAbout(text, name)))];
}
