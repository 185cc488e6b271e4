import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as vscode from 'vscode';
import { SHORT } from '../core/dialogue/prompts';
import { Fault } from '../core/fault';
import type { GradingMode } from '../core/grading/grade';
import type { GradingLimits } from '../core/grading/fairRun';
import type { SamplingSettings } from '../core/model/model';
import { MB, readBytes } from '../core/regularFile';
import { eachSamplingNumber } from '../core/samplingSettings';
import type { Settings } from './settings';

/** Maximum milliseconds until the editor notices that another program has written a file. */
const SETTINGS_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;
/** Milliseconds after which the editor has also noted when that file was written, without which it would not save it. */
const SETTLED_MS = 1000;

/** The settings of one folder, read each time; their defaults are in the manifest only. */
export class FolderSettings {
  /** @param folder of the settings, and of relative paths; by default the workspace's first */
  constructor(readonly folder: vscode.WorkspaceFolder | undefined = vscode.workspace.workspaceFolders?.[0]) {}

  get agent(): string {
    return this.get('agent').trim();
  }

  /** Model as on the command line, or `rules`; empty when none is wanted. */
  get simulator(): string {
    return this.get('simulator').trim();
  }

  get showsCandidates(): boolean {
    return this.get('candidates.show');
  }

  /** Model that writes the second candidate; empty when the agent itself does. */
  get secondAgent(): string {
    return this.get('candidates.secondAgent').trim();
  }

  get modelFolders(): readonly string[] {
    return this.get('modelFolders');
  }

  get servers(): readonly unknown[] {
    return this.get('servers');
  }

  get packs(): readonly string[] {
    return this.get('packs');
  }

  /** The folder of the trajectory log; undefined while no folder is open and the setting is relative. */
  get dataFolder(): string | undefined {
    const folder = this.resolve(this.get('dataFolder'));
    // The spelling is normalized, so that folders that share a log are recognized.
    return folder && path.resolve(folder);
  }

  get opensReference(): boolean {
    return this.get('session.openReference');
  }

  get opensGuidelines(): boolean {
    return this.get('session.openGuidelines');
  }

  get showsCounters(): boolean {
    return this.get('session.showCounters');
  }

  /** Milliseconds from the acceptance of an answer until Tandem measures how much of it is still in its file. */
  get survivalMs(): number {
    return this.get('collaboration.survivalMinutes') * 60_000;
  }

  get protocol(): { maxTurns: number; replyLimit: number } {
    return { maxTurns: this.get('protocol.maxTurns'), replyLimit: this.get('protocol.replyLimit') };
  }

  /** Folder of the user's own prompts, or the word for the short prompt; undefined for those that ship with Tandem. */
  get promptFolder(): string | undefined {
    const folder = this.get('protocol.promptFolder').trim();
    return folder === '' ? undefined : folder === SHORT ? folder : this.resolve(folder);
  }

  get sampling(): SamplingSettings {
    // Undefined when off, so that collections begun before a setting existed continue under their names; those begun
    // with top-p off have it in their names.
    const optional = eachSamplingNumber((name, { off }) => {
      const value = this.get(`sampling.${name}`);
      return value === off && name !== 'topP' ? undefined : value;
    });
    return {
      ...optional,
      temperature: this.get('sampling.temperature'),
      maxTokens: this.get('sampling.maxTokens'),
    };
  }

  get timeLimits(): { firstTokenMs: number; totalMs: number } {
    return {
      firstTokenMs: this.get('model.firstTokenSeconds') * 1000,
      totalMs: this.get('model.totalSeconds') * 1000,
    };
  }

  get trainingPython(): string {
    return this.get('training.python').trim();
  }

  get gradingMode(): GradingMode {
    return this.get('grading.mode');
  }

  get pageBrowser(): string {
    return this.get('pages.browser').trim();
  }

  /** `workers` is absent when the grader chooses. */
  get grader(): { workers?: number; limits: Partial<GradingLimits> } {
    const workers = this.get('grading.workers');
    return {
      ...(workers === 0 ? {} : { workers }),
      limits: {
        factor: this.get('grading.timeFactor'),
        floorMilliseconds: this.get('grading.timeFloorMilliseconds'),
        ceilingMilliseconds: this.get('grading.timeCeilingMilliseconds'),
      },
    };
  }

  /**
   * Sets a value for the whole window, also where a workspace folder has its own. Servers go with the person rather
   * than the work: they are set for all windows unless the workspace has its own.
   */
  async set<K extends keyof Settings>(name: K, value: Settings[K]): Promise<void> {
    const { workspaceFolders: folders = [] } = vscode.workspace;
    const { Global, Workspace, WorkspaceFolder } = vscode.ConfigurationTarget;
    const isOwn = vscode.workspace.getConfiguration('tandem').inspect(name)?.workspaceValue !== undefined;
    const target = folders.length === 0 || (name === 'servers' && !isOwn) ? Global : Workspace;
    if (target === Workspace) await settingsAreKnown();
    await vscode.workspace.getConfiguration('tandem').update(name, value, target);
    if (target === Workspace) await rememberSettings();
    if (folders.length < 2) return;
    for (const { uri } of folders) {
      const own = vscode.workspace.getConfiguration('tandem', uri);
      if (own.inspect(name)?.workspaceFolderValue !== undefined)
        await own.update(name, value, WorkspaceFolder);
    }
  }

  async setHere<K extends keyof Settings>(name: K, value: Settings[K]): Promise<() => Promise<void>> {
    const { WorkspaceFolder } = vscode.ConfigurationTarget;
    const own = vscode.workspace.getConfiguration('tandem', this.folder?.uri);
    const before = own.inspect<Settings[K]>(name)?.workspaceFolderValue;
    const set = async (to: Settings[K] | undefined): Promise<void> => {
      await settingsAreKnown();
      await vscode.workspace.getConfiguration('tandem', this.folder?.uri).update(name, to, WorkspaceFolder);
      await rememberSettings();
    };
    await set(value);
    return () => set(before);
  }

  /** Clears the second agent if its model is gone, so that it does not write when two candidates are shown again. */
  async forgetSecondAgent(spec: string): Promise<void> {
    if (this.secondAgent === spec) await this.set('candidates.secondAgent', '');
  }

  resolve(file: string): string | undefined {
    if (path.isAbsolute(file)) return file;
    return this.folder && path.join(this.folder.uri.fsPath, file);
  }

  onDidChange(listener: () => void): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('tandem')) listener();
    });
  }

  private get<K extends keyof Settings>(name: K): Settings[K] {
    const { workspaceFolders: folders = [] } = vscode.workspace;
    // A single folder has the settings of the window, which the editor has at hand; settings of a folder must be merged
    // first. Null says that this is intended: the editor's log warns of folder settings that are read without naming a
    // folder.
    const scope = folders.length > 1 ? this.folder?.uri : null;
    const value = vscode.workspace.getConfiguration('tandem', scope).get<Settings[K]>(name);
    if (value === undefined) throw new Error(`The manifest has no default for the setting tandem.${name}.`);
    return value;
  }
}

/**
 * Resolves when the editor knows the present text of this workspace's settings file. Right after another program has
 * rewritten it, the editor still has the old text: a value that is already in that text would not be written, and the
 * other program's value would stay, without an error.
 * @throws {Fault} `editor/settings-changed`
 */
async function settingsAreKnown(): Promise<void> {
  const file = settingsFile();
  if (file === undefined || !(await isThere(file))) return;
  const document = await vscode.workspace.openTextDocument(file);
  for (let waited = 0; waited < SETTINGS_TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
    // The editor itself refuses to overwrite unsaved changes in that file, and says so.
    if (document.isDirty) return;
    const text = plain(await textOf(file));
    if (plain(document.getText()) === text) {
      const { mtime } = await vscode.workspace.fs.stat(file);
      if (text === written || Date.now() - mtime > SETTLED_MS) return;
    }
    await pause(POLL_INTERVAL_MS);
  }
  const name = vscode.workspace.asRelativePath(file, false);
  throw new Fault(
    'editor/settings-changed',
    vscode.l10n.t('{0} has just changed on disk. Try again in a moment.', name),
  );
}

/** The text of the settings file after the last change that was made here. */
let written: string | undefined;

async function rememberSettings(): Promise<void> {
  const file = settingsFile();
  written = file && (await isThere(file)) ? plain(await textOf(file)) : undefined;
}

function settingsFile(): vscode.Uri | undefined {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  if (workspaceFile !== undefined) return workspaceFile.scheme === 'file' ? workspaceFile : undefined;
  const folder = workspaceFolders?.[0]?.uri;
  return folder && vscode.Uri.joinPath(folder, '.vscode', 'settings.json');
}

async function isThere(file: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(file);
    return true;
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return false;
    throw error;
  }
}

const MAX_SETTINGS_BYTES = 16 * MB;

async function textOf(file: vscode.Uri): Promise<string> {
  const bytes =
    file.scheme === 'file'
      ? await readBytes(file.fsPath, MAX_SETTINGS_BYTES)
      : await vscode.workspace.fs.readFile(file);
  return new TextDecoder().decode(bytes);
}

/** Normalizes line ends, because the editor keeps one kind in a document. */
function plain(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
