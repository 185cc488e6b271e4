import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { draftedRequest } from '../../core/task/own';
import type { Task } from '../../core/task/task';
import { views } from '../contributions';
import type { Engine } from '../engine';
import type { Engines } from '../engines';
import type { Packs } from '../tasks/packs';
import { claimsAbout } from './claims';
import { pointedAt, type PointedAt } from './function';
import { withProgress } from './testing';

const { t } = vscode.l10n;

/** The pack of a folder that tasks of its own code go into. */
const PACK = 'private-tasks.jsonl';

/**
 * Makes a task of a private pack from the function under the cursor: tests and request are drafted from what is there and
 * edited, and nothing is written before the reference has passed its own tests.
 */
export async function makeTask(engines: Engines, packs: Packs): Promise<void> {
  const pointed = pointedAt();
  if (pointed.function.indent !== '') {
    throw new Fault(
      'editor/no-top-level',
      t(
        '{0} is nested in something else, without which it cannot run. Choose a top-level function.',
        pointed.function.name,
      ),
    );
  }
  const folder = vscode.workspace.getWorkspaceFolder(pointed.document.uri);
  if (folder === undefined) {
    throw new Fault('editor/no-folder', t('Open the folder of this file first: the pack is kept in it.'));
  }
  const calls = await askCalls(pointed);
  const request = calls && (await askRequest(pointed));
  if (calls === undefined || request === undefined) return;
  const { packLine, taskFromFunction } = await import('../../core/task/drafted');
  const task = taskFromFunction(pointed.document.getText(), pointed.function, { request, calls });
  const engine = engines.of(pointed.document.uri.fsPath);
  const isVerified = await withProgress(t('Running the reference against its own tests'), async (signal) => {
    await verify(engine, task, signal);
    return true;
  });
  if (isVerified !== true) return;
  const file = path.join(folder.uri.fsPath, PACK);
  await append(file, packLine(task));
  packs.refresh();
  await tell(file, pointed.function.name, calls.length);
}

/** Those that the tests here make, to choose from, and what the person adds. Undefined when the person turns back. */
async function askCalls({ function: { name } }: PointedAt): Promise<string[] | undefined> {
  const { draftedCalls, typedCalls } = await import('../../core/task/drafted');
  const title = t('Create Task from {0}: hidden tests', name);
  const drafted = draftedCalls(await claimsAbout(name), name);
  let chosen: readonly string[] = [];
  if (drafted.length > 0) {
    const picked = await vscode.window.showQuickPick(
      drafted.map((label) => ({ label, picked: true })),
      {
        title,
        placeHolder: t('Calls from the tests of this workspace'),
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
            'Calls of the function, separated by semicolons. An answer must return what the function returns for each.',
          )
        : t('More calls, separated by semicolons; leave it empty for none.'),
    placeHolder: `${name}(1); ${name}(2)`,
    ignoreFocusOut: true,
    validateInput: (text) =>
      chosen.length === 0 && typedCalls(text).length === 0 ? t('A task needs at least one test.') : undefined,
  });
  return typed === undefined ? undefined : [...new Set([...chosen, ...typedCalls(typed)])];
}

function askRequest({ function: wanted }: PointedAt): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: t('Create Task from {0}: request', wanted.name),
    prompt: t(
      'What everyone sees, with the signature behind it. Leave out what the agent should have to ask.',
    ),
    value: draftedRequest(wanted),
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === '' ? t('Write a sentence about what it should do.') : undefined,
  });
}

/** @throws {Fault} `editor/not-verified` when the reference does not pass its own tests, or cannot be graded here */
async function verify(engine: Engine, task: Task, signal: AbortSignal): Promise<void> {
  const grader = await engine.grader();
  const mode = engine.gradingMode;
  const [failure] = await grader.checkReference(task, { mode, signal });
  if (failure !== undefined) throw notVerified(failure);
  const grade = await grader.grade(task, task.reference, { mode, signal });
  if (grade.success === true) return;
  const failing = grade.tests.findIndex(({ status }) => status !== 'passed');
  throw notVerified(
    grade.notGradable ??
      t('{0} gives another result each time it is called.', task.testCases[failing]?.call ?? ''),
  );
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

/** Whether the last line of a file was written without a line break. */
async function endsOpen(file: string): Promise<boolean> {
  try {
    const text = await readFile(file, 'utf8');
    return text !== '' && !text.endsWith('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
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
