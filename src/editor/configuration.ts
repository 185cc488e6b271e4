import path from 'node:path';
import * as vscode from 'vscode';
import type { GradingMode } from '../core/grading/grade';
import type { GradingLimits } from '../core/grading/limits';
import type { SamplingSettings } from '../core/model/model';
import type { Settings } from './contributions';

/** The settings, read anew each time; their defaults stand in the manifest and nowhere else. */
export class Configuration {
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

  get packs(): readonly string[] {
    return this.get('packs');
  }

  /** The folder of the trajectory log; undefined while no folder is open and the setting is relative. */
  get dataFolder(): string | undefined {
    return this.resolve(this.get('dataFolder'));
  }

  get opensReference(): boolean {
    return this.get('session.openReference');
  }

  get showsCounters(): boolean {
    return this.get('session.showCounters');
  }

  get protocol(): { maxTurns: number; replyLimit: number } {
    return { maxTurns: this.get('protocol.maxTurns'), replyLimit: this.get('protocol.replyLimit') };
  }

  /** Where the user keeps prompts of his own; undefined: the ones that ship with Tandem. */
  get promptFolder(): string | undefined {
    const folder = this.get('protocol.promptFolder').trim();
    return folder === '' ? undefined : this.resolve(folder);
  }

  get sampling(): SamplingSettings {
    return {
      temperature: this.get('sampling.temperature'),
      topP: this.get('sampling.topP'),
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

  async set<K extends keyof Settings>(name: K, value: Settings[K]): Promise<void> {
    const target = vscode.workspace.workspaceFolders
      ? vscode.ConfigurationTarget.Workspace
      : vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration('tandem').update(name, value, target);
  }

  /** Relative paths stand in the first folder of the workspace. */
  resolve(file: string): string | undefined {
    if (path.isAbsolute(file)) return file;
    const folder = vscode.workspace.workspaceFolders?.[0];
    return folder && path.join(folder.uri.fsPath, file);
  }

  onDidChange(listener: () => void): vscode.Disposable {
    return vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('tandem')) listener();
    });
  }

  private get<K extends keyof Settings>(name: K): Settings[K] {
    const value = vscode.workspace.getConfiguration('tandem').get<Settings[K]>(name);
    if (value === undefined) throw new Error(`The manifest has no default for the setting tandem.${name}.`);
    return value;
  }
}
