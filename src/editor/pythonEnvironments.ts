import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';

const { t } = vscode.l10n;

const EXTENSION = 'ms-python.vscode-python-envs';
const SETTING = 'defaultInterpreterPath';

/** The used part of the extension Python Environments (`src/api.ts` of microsoft/vscode-python-environments). */
interface PythonEnvironments {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ readonly execInfo: { readonly run: { readonly executable: string } } } | undefined>;
}

/** The interpreter that a person has chosen for a folder; undefined without that extension, or without a choice. */
export async function chosenPython(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonEnvironments>(EXTENSION);
  if (extension === undefined) return undefined;
  const environments = await extension.activate();
  return (await environments.getEnvironment(folder))?.execInfo.run.executable;
}

/** Chosen in the editor, else `python.defaultInterpreterPath`, else the folder's `.venv`, else that on the path. */
export async function ownPython({ uri }: vscode.WorkspaceFolder): Promise<string> {
  const chosen = await chosenPython(uri);
  if (chosen !== undefined) return chosen;
  const named = vscode.workspace.getConfiguration('python', uri).get<unknown>(SETTING);
  // The Python extension's setting is `python` where none was chosen.
  if (typeof named === 'string' && named.trim() !== '' && named !== 'python') {
    const file = named.trim().replaceAll('${workspaceFolder}', uri.fsPath);
    return path.resolve(uri.fsPath, file);
  }
  const own = pythonIn(path.join(uri.fsPath, '.venv'));
  if (existsSync(own)) return own;
  return process.platform === 'win32' ? 'python' : 'python3';
}

export const pythonIn = (environment: string): string =>
  path.join(environment, ...(process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python']));

export function shownPython(python: string, { uri }: vscode.WorkspaceFolder): string {
  return python.startsWith(uri.fsPath + path.sep) ? path.relative(uri.fsPath, python) : python;
}

/** Asks for the interpreter of a folder, and stores it. @returns undefined when the person chose none */
export async function choosePython(folder: vscode.WorkspaceFolder): Promise<string | undefined> {
  const before = await chosenPython(folder.uri);
  if (before !== undefined) {
    // What is chosen there counts, and not the setting.
    await vscode.commands.executeCommand('python-envs.set');
    const chosen = await chosenPython(folder.uri);
    return chosen === before ? undefined : chosen;
  }
  const browse = { label: t('$(folder) Browse…'), file: '' };
  const rows = rowsOf(folder).then((found) => [...found, browse]);
  const picked = await vscode.window.showQuickPick(rows, {
    title: t('Interpreter for {0}', folder.name),
    placeHolder: t('Python that runs the tests of this folder'),
    matchOnDescription: true,
  });
  const file = picked === browse ? await browsed() : picked?.file;
  if (file !== undefined) await storePython(folder, file);
  return file;
}

async function rowsOf(
  folder: vscode.WorkspaceFolder,
): Promise<(vscode.QuickPickItem & { readonly file: string })[]> {
  const { inspectInterpreter } = await import('../core/testing/interpreter');
  const inspected = await Promise.all((await pythonsFor(folder)).map(inspectInterpreter));
  // Several names on the path may be one Python.
  const found = new Map(
    inspected.flatMap((each) => (each === undefined ? [] : [[`${each.prefix} ${each.version}`, each]])),
  );
  return [...found.values()].map(({ file, version, hasPytest }) => ({
    label: `Python ${version}`,
    description: hasPytest ? t('with pytest') : t('without pytest'),
    detail: shownPython(file, folder),
    file,
  }));
}

/** The folder's environments, then those on the path. */
async function pythonsFor({ uri }: vscode.WorkspaceFolder): Promise<string[]> {
  const { onPath, PYTHON_NAMES } = await import('../core/training/environment/findPython');
  const entries = await readdir(uri.fsPath, { withFileTypes: true }).catch(() => []);
  const environments = entries
    .map(({ name }) => path.join(uri.fsPath, name))
    .filter((each) => existsSync(path.join(each, 'pyvenv.cfg')))
    .map(pythonIn);
  const others = await Promise.all(PYTHON_NAMES.map(onPath));
  return [...new Set([...environments, ...others.filter((each) => each !== undefined)])];
}

async function browsed(): Promise<string | undefined> {
  const [file] =
    (await vscode.window.showOpenDialog({ title: t('Python interpreter'), openLabel: t('Choose') })) ?? [];
  return file?.fsPath;
}

export async function storePython({ uri }: vscode.WorkspaceFolder, python: string): Promise<void> {
  const value = python.startsWith(uri.fsPath + path.sep)
    ? `\${workspaceFolder}/${path.relative(uri.fsPath, python).replaceAll('\\', '/')}`
    : python;
  const settings = vscode.workspace.getConfiguration('python', uri);
  if (settings.inspect(SETTING)?.defaultValue !== undefined) {
    await settings.update(SETTING, value, vscode.ConfigurationTarget.WorkspaceFolder);
    return;
  }
  // The editor refuses to write a setting that no installed extension declares.
  const file = vscode.Uri.joinPath(uri, '.vscode', 'settings.json');
  const text = await vscode.workspace.fs.readFile(file).then(
    (bytes) => new TextDecoder().decode(bytes),
    () => '{}',
  );
  await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(withInterpreter(text, value)));
}

/** @param settings JSON that may have comments, which stay */
export function withInterpreter(settings: string, value: string): string {
  const setting = `"python.${SETTING}": ${JSON.stringify(value)}`;
  const old = /"python\.defaultInterpreterPath"\s*:\s*"(?:[^"\\]|\\.)*"/;
  if (old.test(settings)) return settings.replace(old, () => setting);
  const begins = /\{(\s*\})?/;
  if (!begins.test(settings)) return `{\n  ${setting}\n}\n`;
  return settings.replace(begins, (_, end?: string) =>
    end === undefined ? `{\n  ${setting},` : `{\n  ${setting}\n}`,
  );
}
