import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import { cancellable } from '../progress';
import type { TestCount, TestOutcome, TestRun } from '../../core/testing/run';
import { ownPython } from '../pythonEnvironments';
import { pointedAt } from './functionAtCursor';
import { offerRemedy, type Refusal } from './missingPytest';
import { testFilesNaming } from './testFiles';

const { t } = vscode.l10n;

const LIMIT_MINUTES = 2;
/** Milliseconds of a search for tests before a button that may need them is shown anyway. */
const TEST_DELAY_MS = 1_000;
const MAX_NAMED = 3;

export interface TestReport {
  readonly sentence: string;
  /** True when a test that passed before fails with the answer. */
  readonly isBroken: boolean;
  readonly failing?: TestOutcome;
}

interface Tested {
  readonly document: vscode.TextDocument;
  readonly name: string;
  readonly folder: vscode.WorkspaceFolder;
  readonly files: readonly string[];
}

/**
 * Tests of a developer's own function: those in its folder's files that name it, run with the developer's own
 * interpreter. The file is tested as the editor has it, or with an answer in it, and is not written for that.
 */
export class OwnTests implements vscode.Disposable {
  private channel: vscode.OutputChannel | undefined;

  /** @param script the address of `run_tests.py` */
  constructor(private readonly script: string) {}

  /** True also when the search takes long and is given up, so that a person need not wait for a button. */
  async mayExist(document: vscode.TextDocument, name: string | undefined): Promise<boolean> {
    const within = testedFolder(document);
    if (name === undefined || within === undefined) return false;
    const signal = AbortSignal.timeout(TEST_DELAY_MS);
    try {
      return (await testFilesNaming(name, signal, within).next()).done !== true;
    } catch (error) {
      if (signal.aborted) return true;
      throw error;
    }
  }

  async runPointedAt(): Promise<void> {
    const { document, function: wanted } = pointedAt();
    await this.run(document, wanted.name);
  }

  async run(document: vscode.TextDocument, name: string): Promise<void> {
    const { tested, runs = [] } = (await this.runOnEach(document, name, [document.getText()])) ?? {};
    const [ran] = runs;
    if (tested === undefined || ran === undefined) return;
    const { countOf } = await import('../../core/testing/run');
    const failing = ran.tests.find(({ outcome }) => outcome === 'failed');
    await this.tell({
      sentence: troubleOf(tested, ran) ?? runSentence(countOf(ran), namesOf(ran.tests.filter(isFailed))),
      isBroken: failing !== undefined,
      ...(failing && { failing }),
    });
  }

  /** Returns undefined when the person cancelled, and when there are no tests, which the person is told. */
  async compare(
    document: vscode.TextDocument,
    name: string | undefined,
    texts: { readonly before: string; readonly after: string },
  ): Promise<TestReport | undefined> {
    const { tested, runs = [] } = (await this.runOnEach(document, name, [texts.before, texts.after])) ?? {};
    const [before, after] = runs;
    if (tested === undefined || before === undefined || after === undefined) return undefined;
    const trouble = troubleOf(tested, before);
    if (trouble !== undefined) return { sentence: trouble, isBroken: false };
    if (after.isTimedOut) {
      const sentence = t(
        'With the answer, the tests did not finish within {0} minutes; without it they do.',
        LIMIT_MINUTES,
      );
      return { sentence, isBroken: true };
    }
    const { compareRuns } = await import('../../core/testing/run');
    const { broken, failing, ...counts } = compareRuns(before, after);
    const [first] = failing;
    return {
      sentence: comparedSentence(counts, namesOf(broken)),
      isBroken: broken.length > 0,
      ...(first && { failing: first }),
    };
  }

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

  private async runOnEach(
    document: vscode.TextDocument,
    name: string | undefined,
    texts: readonly string[],
    chosen?: string,
  ): Promise<{ readonly tested: Tested; readonly runs: readonly TestRun[] } | undefined> {
    const called = name ?? path.basename(document.fileName);
    const done = await cancellable(t('Running the tests of {0}', called), async (signal) => {
      const tested = await testsOf(document, name, signal);
      if (tested === undefined) return 'none';
      const python = chosen ?? (await ownPython(tested.folder));
      const runs: TestRun[] = [];
      for (const text of texts) {
        const run = await this.runOn(tested, python, text, signal);
        if ('lacks' in run) return run;
        runs.push(run);
      }
      return { tested, runs };
    });
    if (done === 'none')
      void vscode.window.showInformationMessage(
        t(
          'No test file in this folder names {0}. Tandem looks in test_*.py, *_test.py and tests.py.',
          called,
        ),
      );
    if (done === undefined || done === 'none') return undefined;
    if (!('lacks' in done)) return done;
    const other = await offerRemedy(done, called, this.output);
    return other === undefined ? undefined : this.runOnEach(document, name, texts, other);
  }

  private async runOn(
    { document, folder, files }: Tested,
    python: string,
    text: string,
    signal: AbortSignal,
  ): Promise<TestRun | Refusal> {
    const { runTests } = await import('../../core/testing/run');
    const { output } = this;
    output.appendLine(`${python}: ${files.map((file) => path.relative(folder.uri.fsPath, file)).join(' ')}`);
    try {
      const run = await runTests({
        ...{ python, script: this.script, folder: folder.uri.fsPath, files, signal },
        module: { file: document.uri.fsPath, text },
        limitMilliseconds: LIMIT_MINUTES * 60_000,
        print: (more) => output.append(more),
      });
      return run.needsPytest ? { folder, python, lacks: 'pytest' } : run;
    } catch (error) {
      if (error instanceof Fault && error.code === 'testing/no-python')
        return { folder, python, lacks: 'python' };
      throw error;
    }
  }

  private get output(): vscode.OutputChannel {
    return (this.channel ??= vscode.window.createOutputChannel('Tandem: Tests'));
  }

  private async tell(report: TestReport): Promise<void> {
    const show = showTitle(report);
    const pressed = await (report.isBroken
      ? vscode.window.showWarningMessage(report.sentence, show)
      : vscode.window.showInformationMessage(report.sentence, show));
    if (pressed === show) await this.showFailure(report);
  }
}

export const showTitle = ({ failing }: TestReport): string =>
  failing === undefined ? t('Show Output') : t('Show Failure');
const testedFolder = ({ uri }: vscode.TextDocument): vscode.WorkspaceFolder | undefined =>
  vscode.workspace.isTrusted ? vscode.workspace.getWorkspaceFolder(uri) : undefined;

/** Returns undefined when no test file names the function, or nothing may be run. */
async function testsOf(
  document: vscode.TextDocument,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Tested | undefined> {
  const folder = testedFolder(document);
  if (name === undefined || folder === undefined) return undefined;
  const files: string[] = [];
  for await (const { uri } of testFilesNaming(name, signal, folder)) files.push(uri.fsPath);
  return files.length === 0 ? undefined : { document, name, folder, files };
}

function troubleOf(
  { document, name }: Tested,
  { tests, runner, imported, isTimedOut }: TestRun,
): string | undefined {
  if (isTimedOut) return t('The tests did not finish within {0} minutes and were stopped.', LIMIT_MINUTES);
  if (runner === undefined) return t('The tests stopped early; the output says why.');
  if (tests.length === 0) return t('pytest finds no test in the files that name {0}.', name);
  if (!imported && !tests.some(isFailed))
    return t(
      'The tests that name {0} do not import {1}, so they do not test it.',
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
  const names = tests.slice(0, MAX_NAMED).map(({ name }) => name);
  return [...names, ...(tests.length > MAX_NAMED ? ['…'] : [])].join(', ');
}
