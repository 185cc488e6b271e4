import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Tandem } from '../../src/extension';
import type { SessionPanel } from '../../src/editor/session/panel';
import type { ListedTask } from '../../src/editor/packs';

export const consent = { pseudonym: 'ada', purpose: 'a test', level: 'local' } as const;

/** Returns the running extension with its internals. */
export async function tandem(): Promise<Tandem> {
  const extension = vscode.extensions.getExtension<Tandem>('tandem.tandem');
  assert.ok(extension, 'The extension is not installed.');
  return extension.activate();
}

/** Returns a task of the handwritten pack. @param id as in the pack */
export async function starterTask(id: string): Promise<ListedTask> {
  const { packs } = await tandem();
  const task = (await packs.all()).flatMap((pack) => pack.tasks).find((one) => one.id === id);
  assert.ok(task, `The handwritten pack has no task ${id}.`);
  return task;
}

export async function openTask(id: string): Promise<SessionPanel> {
  const { panels } = await tandem();
  return panels.openTask(await starterTask(id));
}

/** Sets a setting of the workspace and waits until Tandem sees it. */
export async function configure(name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration('tandem').update(name, value, vscode.ConfigurationTarget.Workspace);
}

/** Maximum wait of a test in milliseconds; nearly everything takes less than a second. */
const patience = 300_000;

/** Waits for a condition that the file system or the editor reports at any time. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    if (performance.now() - started > patience) assert.fail(`It did not come to this: ${what}.`);
    await pause(50);
  }
}

export async function closeEditors(): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}
