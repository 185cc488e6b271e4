import * as vscode from 'vscode';

/** The used part of the extension Python Environments (`src/api.ts` of microsoft/vscode-python-environments). */
interface PythonEnvironments {
  getEnvironment(
    scope: vscode.Uri | undefined,
  ): Promise<{ readonly execInfo: { readonly run: { readonly executable: string } } } | undefined>;
}

/** The interpreter that a person has chosen for a folder; undefined without that extension, or without a choice. */
export async function chosenPython(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonEnvironments>('ms-python.vscode-python-envs');
  if (extension === undefined) return undefined;
  const environments = await extension.activate();
  return (await environments.getEnvironment(folder))?.execInfo.run.executable;
}
