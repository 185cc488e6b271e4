import path from 'node:path';
import * as vscode from 'vscode';
import { SHORT } from '../core/dialogue/shortPrompt';
import type { GradingMode } from '../core/grading/grade';
import type { GradingLimits } from '../core/grading/limits';
import type { SamplingSettings } from '../core/model/model';
import type { Settings } from './contributions';
import { settingsAreKnown } from './settingsFile';

/** The settings of one folder, read anew each time; their defaults stand in the manifest and nowhere else. */
export class Configuration {
  /** @param folder whose settings count, and in which relative paths stand; by default the first of the workspace */
  constructor(readonly folder: vscode.WorkspaceFolder | undefined = vscode.workspace.workspaceFolders?.[0]) {}

  /** A model as on the command line; empty when none was chosen. */
  get agent(): string {
    return this.get('agent').trim();
  }

  /** A model as on the command line, or `rules`; empty when none is wanted. */
  get simulator(): string {
    return this.get('simulator').trim();
  }

  /** Whether the developer chooses each message of the agent from two candidates. */
  get showsCandidates(): boolean {
    return this.get('candidates.show');
  }

  /** Who writes the other candidate; empty when the agent itself does. */
  get secondAgent(): string {
    return this.get('candidates.secondAgent').trim();
  }

  /** Folders of local models, as they are written in the setting. */
  get modelFolders(): readonly string[] {
    return this.get('modelFolders');
  }

  /** As they are written: by hand it may be anything. */
  get servers(): readonly unknown[] {
    return this.get('servers');
  }

  get packs(): readonly string[] {
    return this.get('packs');
  }

  /** The folder of the trajectory log; undefined while no folder is open and the setting is relative. */
  get dataFolder(): string | undefined {
    const folder = this.resolve(this.get('dataFolder'));
    // In one spelling, so that folders that share a log are seen to.
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

  /** After how long it is measured how much of an accepted answer is still in its file, in milliseconds. */
  get survivalMs(): number {
    return this.get('collaboration.survivalMinutes') * 60_000;
  }

  get protocol(): { maxTurns: number; replyLimit: number } {
    return { maxTurns: this.get('protocol.maxTurns'), replyLimit: this.get('protocol.replyLimit') };
  }

  /** Where the user keeps prompts of his own, or the word for the short one; undefined: the ones that ship with Tandem. */
  get promptFolder(): string | undefined {
    const folder = this.get('protocol.promptFolder').trim();
    return folder === '' ? undefined : folder === SHORT ? folder : this.resolve(folder);
  }

  get sampling(): SamplingSettings {
    // Not given when it is off: collections begun before there was the setting go on under their names.
    const topK = this.get('sampling.topK');
    return {
      temperature: this.get('sampling.temperature'),
      topP: this.get('sampling.topP'),
      topK: topK === 0 ? undefined : topK,
      maxTokens: this.get('sampling.maxTokens'),
    };
  }

  /** How long a server may take, in milliseconds. */
  get timeLimits(): { firstTokenMs: number; totalMs: number } {
    return {
      firstTokenMs: this.get('model.firstTokenSeconds') * 1000,
      totalMs: this.get('model.totalSeconds') * 1000,
    };
  }

  /** The Python of which the trainer's environment is made; empty when it is looked for. */
  get trainingPython(): string {
    return this.get('training.python').trim();
  }

  get gradingMode(): GradingMode {
    return this.get('grading.mode');
  }

  /** `workers` is absent when the grader may choose. */
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
   * Sets it for the whole window: also where a folder of the workspace has a value of its own. What goes with the person
   * rather than the work, such as servers, is set for all windows.
   */
  async set<K extends keyof Settings>(name: K, value: Settings[K]): Promise<void> {
    const { workspaceFolders: folders = [] } = vscode.workspace;
    const { Global, Workspace, WorkspaceFolder } = vscode.ConfigurationTarget;
    const isOwn = vscode.workspace.getConfiguration('tandem').inspect(name)?.workspaceValue !== undefined;
    const target = folders.length === 0 || (name === 'servers' && !isOwn) ? Global : Workspace;
    if (target === Workspace) await settingsAreKnown();
    await vscode.workspace.getConfiguration('tandem').update(name, value, target);
    if (folders.length < 2) return;
    for (const { uri } of folders) {
      const own = vscode.workspace.getConfiguration('tandem', uri);
      if (own.inspect(name)?.workspaceFolderValue !== undefined)
        await own.update(name, value, WorkspaceFolder);
    }
  }

  /** Sets it for this folder of the workspace alone. @returns what takes that back */
  async setHere<K extends keyof Settings>(name: K, value: Settings[K]): Promise<() => Promise<void>> {
    const { WorkspaceFolder } = vscode.ConfigurationTarget;
    const own = vscode.workspace.getConfiguration('tandem', this.folder?.uri);
    const before = own.inspect<Settings[K]>(name)?.workspaceFolderValue;
    const set = async (to: Settings[K] | undefined): Promise<void> => {
      await settingsAreKnown();
      await vscode.workspace.getConfiguration('tandem', this.folder?.uri).update(name, to, WorkspaceFolder);
    };
    await set(value);
    return () => set(before);
  }

  /** A model that is gone is not to write again when two candidates are shown another time. */
  async forgetSecondAgent(spec: string): Promise<void> {
    if (this.secondAgent === spec) await this.set('candidates.secondAgent', '');
  }

  /** Relative paths stand in the folder. */
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
    // The only folder has the settings of the window, which the editor has at hand; those of a folder it has to merge first.
    // Null says that this is meant: the editor's log warns of settings of folders that are read without saying of which.
    const scope = folders.length > 1 ? this.folder?.uri : null;
    const value = vscode.workspace.getConfiguration('tandem', scope).get<Settings[K]>(name);
    if (value === undefined) throw new Error(`The manifest has no default for the setting tandem.${name}.`);
    return value;
  }
}
