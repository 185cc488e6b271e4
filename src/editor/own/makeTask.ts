import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { brokenClaim, type BrokenClaim } from '../../core/grading/brokenClaim';
import { MB, readText } from '../../core/regularFile';
import { equalityIn } from '../../core/task/python/asserts';
import type { ProgramTask } from '../../core/task/task';
import { ifThere } from '../../core/trajectory/files';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import { cancellable } from '../progress';
import type { Packs } from '../packs';
import { askFacts } from './askFacts';
import { askRequest, pointedAt, type FunctionAtCursor } from './functionAtCursor';
import { claimsAbout, withLateProgress } from './testAnswer';

const { t } = vscode.l10n;

const PACK = 'private-tasks.jsonl';

/** Makes a task of a private pack. Nothing is written before the reference has passed its own tests. */
export async function makeTask(engines: Engines, packs: Packs): Promise<void> {
  const pointed = pointedAt();
  if (pointed.function.indent !== '') {
    throw new Fault(
      'editor/no-top-level',
      t('{0} is nested and cannot run by itself. Choose a top-level function.', pointed.function.name),
    );
  }
  const folder = vscode.workspace.getWorkspaceFolder(pointed.document.uri);
  if (folder === undefined) {
    throw new Fault('editor/no-folder', t('Open the folder of this file first: the pack is kept in it.'));
  }
  const tests = await askTests(pointed);
  const request =
    tests &&
    (await askRequest(
      pointed.function,
      t('Create Task from {0}: request', pointed.function.name),
      t('What everyone sees, with the signature behind it. Leave out what the agent should have to ask.'),
    ));
  if (tests === undefined || request === undefined) return;
  const { packLine, taskFromFunction } = await import('../../core/task/drafted');
  const source = pointed.document.getText();
  const drafted = { request, tests: tests.all };
  const task = taskFromFunction(source, pointed.function, drafted);
  const engine = engines.of(pointed.document.uri.fsPath);
  const isVerified = await cancellable(t('Running the reference against its own tests'), async (signal) => {
    await verify(engine, { task, name: pointed.function.name, claims: tests.claims }, signal);
    return true;
  });
  if (isVerified !== true) return;
  const { name } = pointed.function;
  const facts = await askFacts(engine, { ...drafted, name, reference: task.reference });
  if (facts === undefined) return;
  const file = path.join(folder.uri.fsPath, PACK);
  await append(file, packLine(taskFromFunction(source, pointed.function, { ...drafted, facts })));
  packs.refresh();
  await tell(file, name, tests.all.length);
}

interface ChosenTests {
  readonly all: readonly string[];
  /** Tests that the function must fulfil; the others do not state what it returns. */
  readonly claims: readonly string[];
}

/** Offers the tests that were found in the workspace, and takes others that the person types. */
async function askTests({ function: { name } }: FunctionAtCursor): Promise<ChosenTests | undefined> {
  const { typedCalls } = await import('../../core/task/drafted');
  const title = t('Create Task from {0}: hidden tests', name);
  const claims = await withLateProgress(t('Looking for the tests of {0}', name), (signal) =>
    claimsAbout(name, signal),
  );
  if (claims === undefined) return undefined;
  let chosen: readonly string[] = [];
  if (claims.length > 0) {
    const picked = await vscode.window.showQuickPick(
      claims.map((label) => ({ label, picked: true })),
      {
        title,
        placeHolder: t('Asserts from the tests of this workspace'),
        canPickMany: true,
        ignoreFocusOut: true,
      },
    );
    if (picked === undefined) return undefined;
    chosen = picked.map(({ label }) => label);
  }
  const typed = await vscode.window.showInputBox({
    title,
    prompt:
      chosen.length === 0
        ? t(
            'Tests, separated by semicolons. {0}(1) == 2 expects 2; {0}(1) alone expects what the function returns now.',
            name,
          )
        : t(
            'More tests, separated by semicolons; leave it empty for none. {0}(1) == 2 expects 2; {0}(1) alone expects what the function returns now.',
            name,
          ),
    placeHolder: `${name}(1) == 2; ${name}(2)`,
    ignoreFocusOut: true,
    validateInput: (text) =>
      chosen.length === 0 && typedCalls(text).length === 0 ? t('A task needs at least one test.') : undefined,
  });
  if (typed === undefined) return undefined;
  const added = typedCalls(typed);
  return {
    all: [...new Set([...chosen, ...added])],
    claims: [...new Set([...chosen, ...added.filter((test) => equalityIn(test, name) !== undefined)])],
  };
}

interface Verified {
  readonly task: ProgramTask;
  readonly name: string;
  readonly claims: readonly string[];
}

/** @throws {Fault} `editor/not-verified` when the reference does not pass its own tests, or cannot be graded here */
async function verify(engine: Engine, { task, name, claims }: Verified, signal: AbortSignal): Promise<void> {
  const grader = await engine.grader();
  const mode = engine.gradingMode;
  const [failure] = await grader.checkReference(task, { mode, signal });
  if (failure !== undefined) throw notVerified(failure);
  const broken = await brokenClaim(grader, { code: task.reference, name, claims }, signal);
  if (broken !== undefined) throw notVerified(told(broken));
  const grade = await grader.grade(task, task.reference, { mode, signal });
  if (grade.success === true) return;
  const failing = grade.tests.findIndex(({ status }) => status !== 'passed');
  throw notVerified(
    grade.notGradable ??
      t('{0} returns a different result each time it is called.', task.testCases[failing]?.call ?? ''),
  );
}

function told({ claim, values, failure }: BrokenClaim): string {
  if (failure !== undefined) return t('{0} ends with {1}.', claim, failure);
  if (values === undefined) return t('{0} is not true of it.', claim);
  return t('Expected {0} to be {1}, got {2}.', values.call, values.wanted, values.got);
}

function notVerified(why: string): Fault {
  return new Fault(
    'editor/not-verified',
    t('The task was not written, because the function does not pass its own tests: {0}', why),
  );
}

async function append(file: string, line: string): Promise<void> {
  try {
    await appendFile(file, (await endsOpen(file)) ? `\n${line}` : line);
  } catch (error) {
    throw new Fault(
      'editor/pack-not-written',
      t('{0} could not be written: {1}', vscode.workspace.asRelativePath(file), messageOf(error)),
      { cause: error },
    );
  }
}

async function endsOpen(file: string): Promise<boolean> {
  const text = (await ifThere(() => readText(file, 64 * MB))) ?? '';
  return text !== '' && !text.endsWith('\n');
}

async function tell(file: string, name: string, tests: number): Promise<void> {
  const show = t('Show Tasks');
  const where = vscode.workspace.asRelativePath(file);
  const sentence =
    tests === 1
      ? t('{0} is a task of {1} now, with 1 hidden test.', name, where)
      : t('{0} is a task of {1} now, with {2} hidden tests.', name, where, tests);
  const pressed = await vscode.window.showInformationMessage(sentence, show);
  if (pressed === show) await vscode.commands.executeCommand(`${views.tasks}.focus`);
}
