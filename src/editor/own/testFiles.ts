import * as vscode from 'vscode';
import { MB, readBytes } from '../../core/regularFile';

/** Names of files in which Python's test runners look, or people put tests. */
const TEST_FILES = '**/{test_*,*_test,tests}.py';
const EXCLUDED = '**/{node_modules,.tandem,.git,.venv,venv,site-packages}/**';
/** Number of files that are read at the same time. */
const AT_ONCE = 16;

interface TestFile {
  readonly uri: vscode.Uri;
  readonly text: string;
}

interface Search {
  /** The folder to search; the whole workspace when left out. */
  readonly within?: vscode.WorkspaceFolder;
  readonly signal: AbortSignal;
}

/** In the order of their addresses, with their texts as the editor has them. @throws the signal's reason */
export async function* testFilesNaming(name: string, { within, signal }: Search): AsyncGenerator<TestFile> {
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
