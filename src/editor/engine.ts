import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../core/fault';
import type { SampledAgent } from '../core/dialogue/sample';
import type { DialogueParts } from '../core/dialogue/dialogueParts';
import type { Prompts } from '../core/dialogue/prompts';
import { simulatorModel, specifiedPlayer } from '../core/dialogue/specification/specificationSpec';
import { refinedModels } from '../core/dialogue/refinement/refineSpec';
import type { Simulator } from '../core/dialogue/simulator';
import type { GradingMode } from '../core/grading/grade';
import type { AnswerRunner, Grader } from '../core/grading/grader';
import { isMixture, mixedModels, mixtureSpec } from '../core/model/mixtureSpec';
import type { Model, SamplingSettings } from '../core/model/model';
import type { Pages } from './pages';
import type { TrajectoryLog } from '../core/trajectory/log';
import { EDITOR_MODEL } from '../core/trajectory/modelTerms';
import type { ApiKeys, Servers } from './servers';
import type { FolderSettings } from './configuration';
import { AskedConsent } from './consent';
import type { Grading } from './grading';
import type { Logs } from './logs';
import type { EditorModels } from './editorModels';
import type { LoadedModels } from './loadedModels';
import { localPlace, localPlaces, runOf, type LocalPlace, type TrainedBy } from './localModels';
import { pageDrawer, type DrawPage } from '../views/pageViews';
import { translatedFault, type Translate } from './translate';
import { views } from './contributions';
import { isRestricted, refuseInRestrictedMode, restrictionOf, showRestricted } from './workspaceTrust';
import type { CriticScorer } from '../core/model/local/critic/turnScorer';
import { Owner } from './background';

const { t } = vscode.l10n;

const noAgent = (t: Translate): string => t('No agent is configured. Choose one.');

export interface SharedParts {
  readonly keys: ApiKeys;
  readonly output: vscode.LogOutputChannel;
  readonly logs: Logs;
  readonly grading: Grading;
  readonly pages: Pages;
  readonly locals: LoadedModels;
  readonly servers: Servers;
  readonly editorModels: EditorModels;
  readonly onDidChangeModels: vscode.Event<void>;
}

/** The core for one folder of the workspace. Everything is opened on first use, so that activation costs nothing. */
export class Engine extends Owner {
  readonly t = vscode.l10n.t;
  readonly consent: AskedConsent;
  readonly locals: LoadedModels;
  /** Fires when there is another model, or one changes its state. */
  readonly onDidChangeModels: vscode.Event<void>;
  readonly servers: Servers;
  readonly editorModels: EditorModels;
  readonly drawPage: DrawPage;
  private readonly changed = new vscode.EventEmitter<readonly string[]>();
  private readonly mixtures: Mixtures;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly configuration: FolderSettings,
    private readonly shared: SharedParts,
  ) {
    super();
    this.locals = shared.locals;
    this.onDidChangeModels = shared.onDidChangeModels;
    this.consent = new AskedConsent(context.globalState, () => this.log());
    this.servers = shared.servers;
    this.editorModels = shared.editorModels;
    this.drawPage = pageDrawer(this.dist);
    this.mixtures = new Mixtures(this.dist, configuration, (spec) => this.openModel(spec));
    this.owns(
      this.changed,
      this.mixtures,
      shared.logs.onDidChange(({ folder, episodes }) => {
        if (folder === configuration.dataFolder) this.changed.fire(episodes);
      }),
    );
  }

  /** Fires with the ids of the dialogues that changed in the log; no ids mean that any may have changed. */
  readonly onDidChangeLog = this.changed.event;

  get agentName(): string {
    return this.configuration.agent;
  }

  /** Of a local model; others have none before they are opened. */
  async fingerprintOf(name: string): Promise<string | undefined> {
    const place = this.localPlace(name);
    return place && (await this.locals.look(place.folder)).files?.fingerprint;
  }

  calledBy(name: string): string {
    const specified = specifiedPlayer(name);
    if (specified !== undefined)
      return t('{0}, specification, {1}', this.calledBy(specified.model), specified.persona);
    const [refined = name] = refinedModels(name);
    if (refined !== name) return t('{0}, asking where its drafts differ', this.calledBy(refined));
    const called = mixedModels(name).map(
      (model) => this.localPlace(model)?.name ?? this.servers.find(model)?.name ?? model,
    );
    return isMixture(name) ? t('{0}, chosen by a critic', called.join(' + ')) : called[0]!;
  }

  runOf(agent: string): TrainedBy | undefined {
    return runOf(this.localPlace(agent)?.folder ?? '');
  }

  /** Writes the second candidate; empty when the agent itself does. */
  get secondAgentName(): string {
    return this.configuration.secondAgent;
  }

  isConnected(spec: string): boolean {
    return this.servers.find(simulatorModel(spec)) !== undefined;
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
    return this.samplingOf(this.configuration.agent);
  }

  get pages(): Pages {
    return this.shared.pages;
  }

  /** Without CLIP where `tandem download clip` has not put it. */
  async pageParts(): Promise<Pick<DialogueParts, 'pages' | 'clip'>> {
    const { pages } = this;
    return { pages, clip: await pages.clip() };
  }

  get showsCounters(): boolean {
    return this.configuration.showsCounters;
  }

  get restriction(): string | undefined {
    return restrictionOf(t('Nothing is played'));
  }

  get gradingMode(): GradingMode {
    return this.configuration.gradingMode;
  }

  /** Without those of runs and loops in a workspace that is not trusted, which are not looked through there. */
  get localPlaces(): readonly LocalPlace[] {
    return localPlaces(this.configuration, this.dist, vscode.workspace.isTrusted);
  }

  get dataFolder(): string {
    return this.configuration.dataFolder ?? '';
  }

  get playing(): readonly string[] {
    const places = [...this.agents, simulatorModel(this.configuration.simulator)].map((spec) =>
      this.localPlace(spec),
    );
    return places.flatMap((place) => (place === undefined ? [] : [place.folder]));
  }

  places(): { readonly folder: string; readonly dataFolder: string } {
    const { dataFolder, folder } = this.configuration;
    if (dataFolder === undefined)
      throw new Fault('editor/no-folder', t('Open a folder first: dialogues are logged into it.'));
    return { folder: folder?.uri.fsPath ?? dataFolder, dataFolder };
  }

  log(): Promise<TrajectoryLog> {
    return this.shared.logs.open(this.places().dataFolder);
  }

  async logIfAny(): Promise<TrajectoryLog | undefined> {
    return this.configuration.dataFolder === undefined ? undefined : this.log();
  }

  async openAgent(agent = this.configuration.agent): Promise<Model> {
    refuseInRestrictedMode(t('Models do not run'));
    if (agent === '') throw translatedFault('model/none', noAgent, t);
    return this.openPlayer(agent);
  }

  /** Opens a model by its name, whichever models play now; the editor's picker asks for models by name. */
  async modelNamed(spec: string): Promise<Model> {
    refuseInRestrictedMode(t('Models do not run'));
    return this.openPlayer(spec);
  }

  async openSecondAgent(): Promise<SampledAgent | undefined> {
    const { secondAgent } = this.configuration;
    if (secondAgent === '') return undefined;
    refuseInRestrictedMode(t('Models do not run'));
    return { agent: await this.openPlayer(secondAgent), sampling: this.samplingOf(secondAgent) };
  }

  warmAgents(): void {
    if (!vscode.workspace.isTrusted) return;
    for (const agent of this.agents) {
      const place = this.localPlace(agent);
      if (place !== undefined) this.locals.model(place);
    }
  }

  async openSimulator(simulator = this.configuration.simulator): Promise<Simulator | undefined> {
    if (simulator === '') return undefined;
    refuseInRestrictedMode(t('Simulators do not run'));
    const { RulesSimulator } = await import('../core/dialogue/simulator');
    if (simulator === 'rules') return new RulesSimulator();
    const { simulatorWith } = await import('../core/dialogue/openSimulator');
    return simulatorWith(await this.openModel(simulatorModel(simulator)), simulator, await this.prompts());
  }

  async prompts(): Promise<Prompts> {
    const { Prompts } = await import('../core/dialogue/prompts');
    return Prompts.load(path.join(this.dist, 'prompts'), this.configuration.promptFolder);
  }

  async grader(): Promise<Grader & AnswerRunner> {
    refuseInRestrictedMode(t('Answers are not graded'));
    return this.shared.grading.grader();
  }

  /** Returns the sampling settings of a model as the agent; its own settings override the general ones. */
  samplingOf(spec: string): SamplingSettings {
    const [model = spec] = refinedModels(spec);
    return { ...this.configuration.sampling, ...this.servers.find(model)?.sampling };
  }

  report(error: unknown): void {
    if (error instanceof Fault) this.shared.output.warn(`${error.code}: ${error.message}`);
    else this.shared.output.error(error instanceof Error ? error : messageOf(error));
  }

  note(sentence: string): void {
    this.shared.output.info(sentence);
  }

  /** Shows one sentence; the output channel gets all of it. @param what the action that failed */
  show(error: unknown, what?: string): void {
    this.report(error);
    if (isRestricted(error)) void showRestricted(error);
    else if (error instanceof Fault) void this.showFault(error);
    else void this.showUnforeseen(error, what);
  }

  showReports(): void {
    this.shared.output.show(true);
  }

  private async showFault({ code, message }: Fault): Promise<void> {
    const showModels = t('Show Models');
    const buttons = code.startsWith('model/') ? [showModels] : [];
    const chosen = await vscode.window.showErrorMessage(message, ...buttons);
    if (chosen === showModels) await vscode.commands.executeCommand(`${views.models}.focus`);
  }

  private async showUnforeseen(error: unknown, what: string | undefined): Promise<void> {
    const sentence =
      what === undefined
        ? t('Something went wrong in Tandem: {0}', messageOf(error))
        : t('Tandem: {0} failed: {1}', what, messageOf(error));
    const showLog = t('Show Log');
    if ((await vscode.window.showErrorMessage(sentence, showLog)) === showLog) this.showReports();
  }

  private async openPlayer(spec: string): Promise<Model> {
    const { openRefined } = await import('../core/dialogue/refinement/refinedModel');
    return openRefined(
      spec,
      (each) => this.mixtures.open(each),
      () => this.grader(),
    );
  }

  /** Opens a model under its name in the settings, so that no path of this machine gets into the log. */
  private async openModel(spec: string): Promise<Model> {
    const place = this.localPlace(spec);
    if (place !== undefined) return this.locals.model(place);
    if (spec.startsWith(EDITOR_MODEL)) return this.editorModels.model(spec);
    const { openModel } = await import('../core/model/spec');
    const script = /^script:(.+)$/s.exec(spec)?.[1];
    const resolved = script === undefined ? spec : `script:${this.configuration.resolve(script) ?? script}`;
    const keyOf = await this.shared.keys.forModel(spec);
    const limits = this.configuration.timeLimits;
    const model = openModel(resolved, { limits, keyOf });
    if (script === undefined) return this.servers.watched(model);
    return { name: spec, generate: (...request) => model.generate(...request) };
  }

  private localPlace(spec: string): LocalPlace | undefined {
    return localPlace(spec, this.dist, (file) => this.configuration.resolve(file));
  }

  private get agents(): string[] {
    const { agent, secondAgent, showsCandidates } = this.configuration;
    const agents = showsCandidates && secondAgent !== '' ? [agent, secondAgent] : [agent];
    return agents.flatMap(refinedModels).flatMap(mixedModels);
  }

  private get dist(): string {
    return this.context.asAbsolutePath('dist');
  }
}

/** Agents made of models. A critic's process stays for the next turn, because each turn opens its agent anew. */
export class Mixtures {
  private readonly critics = new Map<string, CriticScorer>();

  constructor(
    private readonly dist: string,
    private readonly configuration: Pick<FolderSettings, 'resolve'>,
    private readonly openModel: (spec: string) => Promise<Model>,
  ) {}

  /**
   * Opens a mixture, or else a model.
   * @throws {Fault} as `mixtureSpec`, `CriticScorer` and the model
   */
  async open(spec: string): Promise<Model> {
    const mixture = mixtureSpec(spec);
    const models = await Promise.all(mixedModels(spec).map((model) => this.openModel(model)));
    if (mixture === undefined) return models[0]!;
    const { MixtureModel } = await import('../core/model/mixture');
    const scorer = await this.scorer(this.configuration.resolve(mixture.critic) ?? mixture.critic);
    return new MixtureModel(spec, models, scorer, mixture);
  }

  dispose(): void {
    for (const critic of this.critics.values()) void critic.close();
  }

  private async scorer(folder: string): Promise<CriticScorer> {
    const { CriticScorer } = await import('../core/model/local/critic/turnScorer');
    const scorer = this.critics.get(folder) ?? new CriticScorer(folder, path.join(this.dist, 'scoring.js'));
    this.critics.set(folder, scorer);
    return scorer;
  }
}
