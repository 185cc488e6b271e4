import * as vscode from 'vscode';
import { assertsAbout } from '../../core/task/python/asserts';
import { testFilesNaming } from './testFiles';

/** From open Python files, then from the workspace's test files. @throws the signal's reason when it is aborted */
export async function claimsAbout(name: string, signal: AbortSignal): Promise<string[]> {
  const open = vscode.workspace.textDocuments.filter(({ languageId }) => languageId === 'python');
  const texts = open.map((document) => document.getText());
  for await (const { text } of testFilesNaming(name, { signal })) texts.push(text);
  return [...new Set(texts.flatMap((text) => assertsAbout(text, name)))];
}
