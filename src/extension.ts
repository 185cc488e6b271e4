import type * as vscode from 'vscode';
import { registerTools } from './editor/agentTools/register';
import { buildApp, type App } from './editor/app';
import { registerCommands } from './editor/commands';

/** The running extension; other extensions may look at it, the tests of the extension host do. */
export type Tandem = App;

let running: App | undefined;

export function activate(context: vscode.ExtensionContext): Tandem {
  running = buildApp(context);
  context.subscriptions.push(registerCommands(running), registerTools(running));
  return running;
}

/** Resolves when the child processes are gone. */
export async function deactivate(): Promise<void> {
  await running?.engines.close();
}
