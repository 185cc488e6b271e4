import path from 'node:path';
import * as vscode from 'vscode';
import type { TestCount } from '../../core/testing/comparison';
import type { TestOutcome, TestRun } from '../../core/testing/run';
import { pointedAt } from './function';
import { ownPython } from './interpreter';
import { testFilesNaming } from './testFiles';
import { withProgress } from './testing';

const { t } = vscode.l10n;

/** Tests that take longer are ended. */
const LIMIT_MINUTES = 2;
/** More broken tests than these are not named in the sentence. */
const MOST_NAMED = 3;

/** What the tests of a function say. */
export interface TestReport {
  readonly sentence: string;
  /** A test that passed before fails with the answer. */
  readonly isBroken: boolean;
  /** The test to open. */
  readonly failing?: TestOutcome;
}

/** A function with its tests, as far as they are run. */
interface Tested {
  readonly document: vscode.TextDocument;
  readonly name: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly files: readonly string[];
}

/**
 * The tests of a developer's own function: those of the files in its folder that name it, run with the developer's own
 * interpreter. The file is tested as the editor has it, or as it would be with an answer, and is not written for that.
 */
export class OwnTests implements vscode.Disposable {
  private channel: vscode.OutputChannel | undefined;

  /** @param script the address of `run_tests.py` */
  constructor(private readonly script: string) {}

  /** Undefined when no test file names the function, or nothing may be run in this workspace. */
  async of(document: vscode.TextDocument, name: string | undefined): Promise<Tested | undefined> {
    const folder = vscode.workspace.getWorkspaceFolder(document.uri);
    if (name === undefined || folder === undefined || !vscode.workspace.isTrusted) return undefined;
    const files = (await testFilesNaming(name, folder)).map(({ uri }) => uri.fsPath);
    return files.length === 0 ? undefined : { document, name, folder, files };
  }

  /** Runs the tests of the function under the cursor, and says how they went. */
  async runPointedAt(): Promise<void> {
    const { document, function: wanted } = pointedAt();
    const tested = await this.of(document, wanted.name);
    if (tested === undefined) {
      tellNone(wanted.name);
      return;
    }
    await this.run(tested);
  }

  async run(tested: Tested): Promise<void> {
    const { document, name } = tested;
    const ran = await withProgress(t('Running the tests of {0}', name), (signal) =>
      this.runOn(tested, document.getText(), signal),
    );
    if (ran === undefined) return;
    const { countOf } = await import('../../core/testing/comparison');
    const failing = ran.tests.find(({ outcome }) => outcome === 'failed');
    await this.tell({
      sentence: troubleOf(tested, ran) ?? runSentence(countOf(ran), namesOf(ran.tests.filter(isFailed))),
      isBroken: failing !== undefined,
      ...(failing && { failing }),
    });
  }

  /**
   * Runs the tests on the file as it is, and as it would be. Undefined when the person cancels it.
   * @param text the file with the answer
   */
  async compare(tested: Tested, text: string): Promise<TestReport | undefined> {
    const { document, name } = tested;
    const runs = await withProgress(t('Running the tests of {0}', name), async (signal) => [
      await this.runOn(tested, document.getText(), signal),
      await this.runOn(tested, text, signal),
    ]);
    const [before, after] = runs ?? [];
    if (before === undefined || after === undefined) return undefined;
    const trouble = troubleOf(tested, before);
    if (trouble !== undefined) return { sentence: trouble, isBroken: false };
    if (after.isTimedOut) {
      const sentence = t(
        'The tests end as the file is now, and not within {0} minutes with the answer.',
        LIMIT_MINUTES,
      );
      return { sentence, isBroken: true };
    }
    const { compareRuns } = await import('../../core/testing/comparison');
    const { broken, failing, ...counts } = compareRuns(before, after);
    const [first] = failing;
    return {
      sentence: comparedSentence(counts, namesOf(broken)),
      isBroken: broken.length > 0,
      ...(first && { failing: first }),
    };
  }

  /** Opens the test that failed, and what the tests have printed. */
  async showFailure({ failing }: TestReport): Promise<void> {
    this.channel?.show(true);
    if (failing?.file === undefined) return;
    const at = new vscode.Position(failing.line, 0);
    await vscode.window.showTextDocument(vscode.Uri.file(failing.file), {
      selection: new vscode.Range(at, at),
    });
  }

  dispose(): void {
    this.channel?.dispose();
  }

  private async runOn(
    { document, folder, files }: Tested,
    text: string,
    signal: AbortSignal,
  ): Promise<TestRun> {
    const { runTests } = await import('../../core/testing/run');
    const python = await ownPython(folder);
    const channel = (this.channel ??= vscode.window.createOutputChannel('Tandem: Tests'));
    channel.appendLine(`${python}: ${files.map((file) => path.relative(folder.uri.fsPath, file)).join(' ')}`);
    return runTests({
      ...{ python, script: this.script, folder: folder.uri.fsPath, files, signal },
      module: { file: document.uri.fsPath, text },
      limitMilliseconds: LIMIT_MINUTES * 60_000,
      print: (more) => channel.append(more),
    });
  }

  private async tell(report: TestReport): Promise<void> {
    const show = showTitle(report);
    const pressed = await (report.isBroken
      ? vscode.window.showWarningMessage(report.sentence, show)
      : vscode.window.showInformationMessage(report.sentence, show));
    if (pressed === show) await this.showFailure(report);
  }
}

/** What the button is called that opens the failing test, or the output. */
export const showTitle = ({ failing }: TestReport): string =>
  failing === undefined ? t('Show Output') : t('Show Failure');

export function tellNone(name: string): void {
  void vscode.window.showInformationMessage(
    t(
      'No test file of this folder names {0}. Tests are looked for in test_*.py, *_test.py and tests.py.',
      name,
    ),
  );
}

/** Why a run says nothing; undefined when it does. */
function troubleOf(
  { document, name }: Tested,
  { tests, runner, imported, isTimedOut }: TestRun,
): string | undefined {
  if (isTimedOut) return t('The tests did not end within {0} minutes and were stopped.', LIMIT_MINUTES);
  if (runner === undefined) return t('The tests were cut off before their end; the output says why.');
  if (tests.length === 0 && runner === 'unittest')
    return t(
      'unittest finds no test in the files that name {0}, and pytest is not installed in this interpreter.',
      name,
    );
  if (tests.length === 0) return t('pytest finds no test in the files that name {0}.', name);
  if (!imported && !tests.some(isFailed))
    return t(
      'The tests that name {0} do not import {1}, so they say nothing about it.',
      name,
      path.basename(document.fileName),
    );
  return undefined;
}

function comparedSentence(
  { before, after }: { readonly before: TestCount; readonly after: TestCount },
  broken: string,
): string {
  const counts = [before.passed, before.all, after.passed, after.all];
  return broken === ''
    ? t('Tests passed: {0} of {1} before, {2} of {3} with the answer.', ...counts)
    : t('Tests passed: {0} of {1} before, {2} of {3} with the answer. It breaks {4}.', ...counts, broken);
}

function runSentence({ passed, all }: TestCount, failed: string): string {
  return failed === ''
    ? t('Tests passed: {0} of {1}.', passed, all)
    : t('Tests passed: {0} of {1}. Failed: {2}.', passed, all, failed);
}

const isFailed = ({ outcome }: TestOutcome): boolean => outcome === 'failed';

function namesOf(tests: readonly TestOutcome[]): string {
  const names = tests.slice(0, MOST_NAMED).map(({ name }) => name);
  return [...names, ...(tests.length > MOST_NAMED ? ['…'] : [])].join(', ');
}
