import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { Interpreter } from '../../core/testing/interpreter';
import { cancellable } from '../progress';
import { choosePython, ownPython, pythonIn, shownPython, storePython } from '../pythonEnvironments';

const { t } = vscode.l10n;

/** A run that did not take place: the interpreter cannot be started, or has no pytest. */
export interface Refusal {
  readonly folder: vscode.WorkspaceFolder;
  readonly python: string;
  readonly lacks: 'python' | 'pytest';
}

/**
 * Says what is missing, and offers to install pytest or to choose another interpreter.
 * @returns the interpreter with which the tests can run; undefined when the person did neither
 */
export async function offerRemedy(
  { folder, python, lacks }: Refusal,
  name: string,
  output: vscode.OutputChannel,
): Promise<string | undefined> {
  const { inspectInterpreter } = await import('../../core/testing/interpreter');
  const interpreter = lacks === 'python' ? undefined : await inspectInterpreter(python);
  const installation = interpreter && (await installationFor(interpreter, folder));
  const choose = t('Choose Interpreter…');
  const pressed = await vscode.window.showWarningMessage(
    sentenceOf(interpreter, shownPython(python, folder), name),
    ...[...(installation === undefined ? [] : [installation.button]), choose],
  );
  if (pressed === choose) return choosePython(folder);
  if (pressed === undefined || installation === undefined) return undefined;
  return install(installation, folder, output);
}

function sentenceOf(interpreter: Interpreter | undefined, shown: string, name: string): string {
  if (interpreter === undefined) return t('The Python {0} cannot be started, so no test was run.', shown);
  return interpreter.isManaged
    ? t(
        'The tests of {0} need pytest, which {1} does not have. The system manages this Python, so nothing can be installed into it.',
        name,
        shown,
      )
    : t('The tests of {0} need pytest, which {1} does not have.', name, shown);
}

interface Installation {
  readonly button: string;
  readonly question: string;
  readonly confirm: string;
  readonly commands: readonly (readonly string[])[];
  /** The interpreter that then has pytest. */
  readonly python: string;
  /** Folder of a new environment, which is removed when it cannot be made. */
  readonly made?: string;
}

/** Undefined where nothing can be installed: another interpreter is to be chosen. */
async function installationFor(
  { file, hasPip, isManaged }: Interpreter,
  folder: vscode.WorkspaceFolder,
): Promise<Installation | undefined> {
  if (isManaged) {
    const made = path.join(folder.uri.fsPath, '.venv');
    if (existsSync(made)) return undefined;
    const python = pythonIn(made);
    return {
      ...{ python, made },
      button: t('Create .venv…'),
      question: t('Create .venv in {0} and install pytest into it?', folder.name),
      confirm: t('Create'),
      commands: [
        [file, '-m', 'venv', '.venv'],
        [python, '-m', 'pip', 'install', 'pytest'],
      ],
    };
  }
  const { onPath } = await import('../../core/training/environment/findPython');
  // Environments that uv made have no pip.
  const uv = hasPip ? undefined : await onPath('uv');
  if (!hasPip && uv === undefined) return undefined;
  return {
    python: file,
    button: t('Install pytest…'),
    question: t('Install pytest into {0}?', shownPython(file, folder)),
    confirm: t('Install'),
    commands: [
      uv === undefined
        ? [file, '-m', 'pip', 'install', 'pytest']
        : [uv, 'pip', 'install', '--python', file, 'pytest'],
    ],
  };
}

async function install(
  { question, confirm, commands, python, made }: Installation,
  folder: vscode.WorkspaceFolder,
  output: vscode.OutputChannel,
): Promise<string | undefined> {
  const detail = t(
    'This runs:\n{0}',
    commands.map((command) => command.map((word) => quoted(shownPython(word, folder))).join(' ')).join('\n'),
  );
  if ((await vscode.window.showInformationMessage(question, { modal: true, detail }, confirm)) !== confirm)
    return undefined;
  const { installPytest } = await import('../../core/testing/interpreter');
  try {
    const isInstalled = await cancellable(t('Installing pytest'), async (signal) => {
      const print = (text: string): void => output.append(text);
      await installPytest({ commands, folder: folder.uri.fsPath, signal, print });
      return true;
    });
    if (isInstalled !== true) return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const show = t('Show Output');
    if ((await vscode.window.showErrorMessage(error.message, show)) === show) output.show(true);
    return undefined;
  } finally {
    if (made !== undefined && !existsSync(pipOf(made))) await rm(made, { recursive: true, force: true });
  }
  if (made !== undefined && (await ownPython(folder)) !== python) await storePython(folder, python);
  return python;
}

/** An environment that could not be made, or not to its end, has no pip. */
const pipOf = (environment: string): string =>
  path.join(path.dirname(pythonIn(environment)), process.platform === 'win32' ? 'pip.exe' : 'pip');

const quoted = (word: string): string => (word.includes(' ') ? `"${word}"` : word);
