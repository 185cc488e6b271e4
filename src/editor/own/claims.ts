import * as vscode from 'vscode';
import { assertsAbout } from '../../core/task/python/asserts';

/** Where Python's test runners look, and where people put tests. */
const TEST_FILES = '**/{test_*,*_test,tests}.py';
const EXCLUDED = '**/{node_modules,.tandem,.git,.venv,venv,site-packages}/**';
const MOST_FILES = 200;

/** What the workspace's test files claim about a function; those that are open first, as they are there. */
export async function claimsAbout(name: string): Promise<string[]> {
  const open = vscode.workspace.textDocuments.filter(({ languageId }) => languageId === 'python');
  const files = await vscode.workspace.findFiles(TEST_FILES, EXCLUDED, MOST_FILES);
  const others = files.filter((uri) => !open.some((document) => document.uri.toString() === uri.toString()));
  const texts = [
    ...open.map((document) => document.getText()),
    ...(await Promise.all(others.map((uri) => textOf(uri)))),
  ];
  const about = texts.filter((text) => text.includes(name));
  return [...new Set(about.flatMap((text) => assertsAbout(text, name)))];
}

async function textOf(uri: vscode.Uri): Promise<string> {
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    // It is gone since it was found.
    return '';
  }
}
