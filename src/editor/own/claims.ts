import * as vscode from 'vscode';
import { assertsAbout } from '../../core/task/python/asserts';
import { testFilesNaming } from './testFiles';

/** Returns the asserts about a function in open Python files, then in the workspace's test files. */
export async function claimsAbout(name: string): Promise<string[]> {
  const open = vscode.workspace.textDocuments.filter(({ languageId }) => languageId === 'python');
  const files = await testFilesNaming(name);
  const texts = [...open.map((document) => document.getText()), ...files.map(({ text }) => text)];
  return [...new Set(texts.flatMap((text) => assertsAbout(text, name)))];
}
