import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../core/fault';
import type { Prompts } from '../core/dialogue/prompts';
import type { Simulator } from '../core/dialogue/simulator';
import type { GradingMode } from '../core/grading/grade';
import type { Grader } from '../core/grading/grader';
import type { LocalModel } from '../core/model/local/model';
import type { Model, SamplingSettings } from '../core/model/model';
import type { TrajectoryLog } from '../core/trajectory/log';
import type { ApiKeys } from './apiKeys';
import type { Configuration } from './configuration';
import { Consent } from './consent';
import { LoadedModels } from './models/loaded';
import { localPlace, localPlaces, type LocalPlace } from './models/places';
import type { SessionParts } from './session/parts';

/** What other processes append to the log is read this long after the last change that the file system reports. */
const FOLLOW_AFTER_MS = 300;

/**
 * What the editor uses of the core. Everything is loaded and opened when it is first needed, so that activation costs
 * nothing, and is closed with the extension.
 */
export class Engine implements SessionParts, vscode.Disposable {
  readonly consent: Consent;
  /** The models that play on this machine. */
  readonly locals: LoadedModels;
  private opened: { readonly folder: string; readonly log: Promise<TrajectoryLog> } | undefined;
  private startedGrader: { readonly settings: string; readonly grader: Promise<Grader> } | undefined;
  private readonly changed = new vscode.EventEmitter<readonly string[]>();
  private readonly modelsChanged = new vscode.EventEmitter<void>();
  private readonly disposables: { dispose(): unknown }[];
  private follower: vscode.Disposable | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly configuration: Configuration,
    private readonly keys: ApiKeys,
    private readonly output: vscode.LogOutputChannel,
  ) {
    this.consent = new Consent(context.globalState, () => this.log());
    this.locals = new LoadedModels(
      (place) => this.openLocal(place),
      () => this.modelsChanged.fire(),
      (error) => this.report(error),
    );
    this.disposables = [
      this.changed,
      this.modelsChanged,
      configuration.onDidChange(() => void this.locals.keep(this.playing)),
    ];
  }

  /** The ids of the dialogues that changed in the log; none: any may have. */
  readonly onDidChangeLog = this.changed.event;
  /** The state of a local model has changed. */
  readonly onDidChangeModels = this.modelsChanged.event;

  get agentName(): string {
    return this.configuration.agent;
  }

  get secondAgentName(): string {
    return this.configuration.secondAgent;
  }

  get showsCandidates(): boolean {
    return this.configuration.showsCandidates;
  }

  get simulatorName(): string {
    return this.configuration.simulator;
  }

  get protocol(): { maxTurns: number; replyLimit: number } {
    return this.configuration.protocol;
  }

  get sampling(): SamplingSettings {
    return this.configuration.sampling;
  }

  get showsCounters(): boolean {
    return this.configuration.showsCounters;
  }

  get gradingMode(): GradingMode {
    return this.configuration.gradingMode;
  }

  get localPlaces(): readonly LocalPlace[] {
    return localPlaces(this.configuration, this.starter);
  }

  /** @throws {Fault} `editor/no-folder` */
  log(): Promise<TrajectoryLog> {
    const folder = this.configuration.dataFolder;
    if (folder === undefined) {
      throw new Fault('editor/no-folder', 'Open a folder first: dialogues are logged into it.');
    }
    if (this.opened?.folder !== folder) {
      void this.closeLog();
      const opening = this.openLog(folder);
      this.opened = { folder, log: opening };
      // One that could not be opened is tried again the next time.
      opening.catch(() => (this.opened = undefined));
    }
    return this.opened.log;
  }

  /** The log, when there is a folder for it. */
  async logIfAny(): Promise<TrajectoryLog | undefined> {
    return this.configuration.dataFolder === undefined ? undefined : this.log();
  }

  async openAgent(): Promise<Model> {
    const { agent } = this.configuration;
    if (agent === '') throw new Fault('model/none', 'No agent is configured. Choose one.');
    return this.openModel(agent);
  }

  async openSecondAgent(): Promise<Model | undefined> {
    const { secondAgent } = this.configuration;
    return secondAgent === '' ? undefined : this.openModel(secondAgent);
  }

  /** Begins to load the agents that play on this machine, so that they are there when they are asked. */
  warmAgents(): void {
    for (const agent of this.agents) {
      const place = this.localPlace(agent);
      if (place !== undefined) this.locals.model(place);
    }
  }

  async openSimulator(): Promise<Simulator | undefined> {
    const { simulator } = this.configuration;
    if (simulator === '') return undefined;
    const { ModelSimulator, RulesSimulator } = await import('../core/dialogue/simulator');
    if (simulator === 'rules') return new RulesSimulator();
    return new ModelSimulator(await this.openModel(simulator), await this.prompts());
  }

  async prompts(): Promise<Prompts> {
    const { Prompts } = await import('../core/dialogue/prompts');
    return Prompts.load(path.join(this.dist, 'prompts'), this.configuration.promptFolder);
  }

  grader(): Promise<Grader> {
    const settings = JSON.stringify(this.configuration.grader);
    if (this.startedGrader?.settings !== settings) {
      void this.closeGrader();
      const grader = this.startGrader();
      this.startedGrader = { settings, grader };
      grader.catch(() => (this.startedGrader = undefined));
    }
    return this.startedGrader.grader;
  }

  report(error: unknown): void {
    if (error instanceof Fault) this.output.warn(`${error.code}: ${error.message}`);
    else this.output.error(error instanceof Error ? error : messageOf(error));
  }

  /** Shows one sentence, and keeps the whole in the output channel. */
  show(error: unknown): void {
    this.report(error);
    void vscode.window.showErrorMessage(messageOf(error));
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
    void this.close();
  }

  /** Resolves when the child processes are gone and the log is closed. */
  async close(): Promise<void> {
    await Promise.all([this.closeLog(), this.closeGrader(), this.locals.close()]);
  }

  /** A model under the name that the settings give it, so that no path of this machine gets into the log. */
  private async openModel(spec: string): Promise<Model> {
    const place = this.localPlace(spec);
    if (place !== undefined) return this.locals.model(place);
    const { openModel } = await import('../core/model/spec');
    const script = /^script:(.+)$/s.exec(spec)?.[1];
    const resolved = script === undefined ? spec : `script:${this.configuration.resolve(script) ?? script}`;
    const apiKey = await this.keys.forModel(spec);
    const limits = this.configuration.timeLimits;
    const model = openModel(resolved, { limits, ...(apiKey === undefined ? {} : { apiKey }) });
    return { name: spec, generate: (...request) => model.generate(...request) };
  }

  /** The local model that a setting names, if it names one. */
  private localPlace(spec: string): LocalPlace | undefined {
    return localPlace(spec, this.starter, (file) => this.configuration.resolve(file));
  }

  private async openLocal({ spec, folder }: LocalPlace): Promise<LocalModel> {
    const { LocalModel } = await import('../core/model/local/model');
    return new LocalModel({ name: spec, folder });
  }

  /** The folders of the local models that the settings name. */
  private get playing(): string[] {
    const places = [...this.agents, this.configuration.simulator].map((spec) => this.localPlace(spec));
    return places.flatMap((place) => (place === undefined ? [] : [place.folder]));
  }

  /** Those that write the agent's messages. */
  private get agents(): string[] {
    const { agent, secondAgent, showsCandidates } = this.configuration;
    return showsCandidates && secondAgent !== '' ? [agent, secondAgent] : [agent];
  }

  private async openLog(folder: string): Promise<TrajectoryLog> {
    const { TrajectoryLog } = await import('../core/trajectory/log');
    const log = await TrajectoryLog.open(folder);
    log.onDidChange((episodes) => this.changed.fire(episodes));
    for (const note of log.notes) this.output.info(note);
    for (const { file, line, reason } of log.problems) this.output.warn(`${file}, line ${line}: ${reason}`);
    this.follower = this.follow(folder, log);
    return log;
  }

  /** Reads what another window or a terminal appends to the same log. */
  private follow(folder: string, log: TrajectoryLog): vscode.Disposable {
    let timer: NodeJS.Timeout | undefined;
    const read = (): void => {
      clearTimeout(timer);
      timer = setTimeout(
        () => void log.refresh().catch((error: unknown) => this.report(error)),
        FOLLOW_AFTER_MS,
      );
    };
    const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), 'log/**');
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    watcher.onDidChange(read);
    watcher.onDidCreate(read);
    return new vscode.Disposable(() => {
      clearTimeout(timer);
      watcher.dispose();
    });
  }

  private async startGrader(): Promise<Grader> {
    const { createGrader } = await import('../core/grading/grader');
    const { systemPython } = await import('../core/grading/native/native');
    return createGrader({
      native: systemPython(this.dist),
      assets: this.dist,
      ...this.configuration.grader,
      cacheFolder: path.join(this.context.globalStorageUri.fsPath, 'references'),
    });
  }

  private async closeLog(): Promise<void> {
    const { opened } = this;
    this.opened = undefined;
    this.follower?.dispose();
    this.follower = undefined;
    await this.closing(opened?.log);
  }

  private async closeGrader(): Promise<void> {
    const { startedGrader } = this;
    this.startedGrader = undefined;
    await this.closing(startedGrader?.grader);
  }

  private async closing(what: Promise<{ close(): Promise<void> }> | undefined): Promise<void> {
    try {
      await (await what)?.close();
    } catch (error) {
      this.report(error);
    }
  }

  private get starter(): string {
    return path.join(this.dist, 'starter');
  }

  private get dist(): string {
    return this.context.asAbsolutePath('dist');
  }
}
