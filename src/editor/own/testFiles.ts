import * as vscode from 'vscode';

/** Names of files in which Python's test runners look, or people put tests. */
const TEST_FILES = '**/{test_*,*_test,tests}.py';
const EXCLUDED = '**/{node_modules,.tandem,.git,.venv,venv,site-packages}/**';
const MOST_FILES = 200;

export interface TestFile {
  readonly uri: vscode.Uri;
  readonly text: string;
}

/**
 * Returns the test files that name a function, in the order of their addresses, with their texts as the editor has
 * them.
 * @param within the folder to search; the whole workspace when left out
 */
export async function testFilesNaming(name: string, within?: vscode.WorkspaceFolder): Promise<TestFile[]> {
  const pattern = within === undefined ? TEST_FILES : new vscode.RelativePattern(within, TEST_FILES);
  const found = await vscode.workspace.findFiles(pattern, EXCLUDED, MOST_FILES);
  const files = await Promise.all(found.map(async (uri) => ({ uri, text: await textOf(uri) })));
  const word = new RegExp(`(?<![\\p{L}\\p{N}_])${name}(?![\\p{L}\\p{N}_])`, 'u');
  return files
    .filter(({ text }) => word.test(text))
    .toSorted((one, other) => (one.uri.path < other.uri.path ? -1 : 1));
}

async function textOf(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open !== undefined) return open.getText();
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    // The file was deleted after it was found.
    return '';
  }
}
