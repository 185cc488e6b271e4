import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { chosenPython } from '../../src/editor/pythonEnvironments';

/** API of the extension in test/fixtures/python-environments. */
interface Chooser {
  choose(executable: string | undefined): void;
}

describe('The Python that is chosen for a folder', () => {
  let chooser: Chooser;
  const folder = (): vscode.Uri | undefined => vscode.workspace.workspaceFolders?.[0]?.uri;

  before(async () => {
    const extension = vscode.extensions.getExtension<Chooser>('ms-python.vscode-python-envs');
    assert.ok(extension, 'The extension that chooses a Python is not loaded.');
    chooser = await extension.activate();
  });

  it('is that of the extension Python Environments', async () => {
    chooser.choose('/opt/python/bin/python3');
    assert.equal(await chosenPython(folder()), '/opt/python/bin/python3');
  });

  it('is none when none is chosen there', async () => {
    chooser.choose(undefined);
    assert.equal(await chosenPython(folder()), undefined);
  });
});
