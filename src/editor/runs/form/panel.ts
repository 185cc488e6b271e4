import path from 'node:path';
import * as vscode from 'vscode';
import type { Plan } from '../../../core/training/checks';
import { workerMemory, type WorkerMemory } from '../../../core/training/cluster';
import type { DataCounts } from '../../../core/training/data/countData';
import type { TrajectoryFilter } from '../../../core/trajectory/index/filter';
import type { TrajectoryLog } from '../../../core/trajectory/log';
import { isClusterFieldPath, isFieldPath } from '../../../core/training/fields';
import { Runs, type Run } from '../../../core/training/runs';
import type {
  DataView,
  EstimateView,
  FormState,
  FromWebview,
  StartView,
  ToWebview,
  Values,
} from '../../../../webview/newRun/protocol';
import { idOf } from '../../contributions';
import type { Engine } from '../../engine';
import { sharedCalled } from '../../displayNames';
import type { LocalPlace } from '../../localModels';
import { Panel, type Asks } from '../../panel';
import { manageTrust, restrictionOf } from '../../workspaceTrust';
import { methodTitle } from '../../words';
import type { Pack } from '../../packs';
import type { EditorTrainer } from '../../trainer';
import { pickFolder } from '../../inputSteps';
import {
  recommendedFor,
  trainablePlaces,
  addressOf,
  baseOf,
  fitsSimulator,
  HUB,
  learnsFromLog,
  learnsFromRows,
  methodOf,
  packIn,
  playsItself,
  type Filled,
  type FormContext,
} from './configuration';
import { ClusterCheck } from './cluster';
import { Counting } from './dataCounter';
import { Estimating, type EstimateOwner } from './estimator';
import { Starting, type StartingOwner } from './formStart';
import { dataView, estimateIn } from './estimateView';
import { suggestedMethod } from './suggestedMethod';
import { type Choices, formView } from './view';
import { warmStartView, recommendationWords } from './words';

const { t } = vscode.l10n;

const FROM = t('New Run');

/** Minimum milliseconds between counts of a growing log. */
const AGAIN_AFTER_MS = 1000;

export interface NewRunContext {
  readonly extension: vscode.Uri;
  readonly trainer: EditorTrainer;
  engineOf(dataFolder: string): Engine;
  /** @returns undefined when the person cancelled */
  start(
    runs: Runs,
    configuration: unknown,
    started: { readonly from: string; readonly signal: AbortSignal },
  ): Promise<Run | undefined>;
  started(panel: NewRunPanel, run: Run): void;
  openFile(engine: Engine, configuration: unknown): Promise<void>;
  packs(): Promise<readonly Pack[]>;
  collect(engine: Engine): Promise<void>;
}

/** The page holds the typed values; the panel sends it everything else. */
export class NewRunPanel extends Panel<FromWebview, ToWebview> implements EstimateOwner, StartingOwner {
  private readonly runs: Runs;
  private readonly counting: Counting;
  private readonly estimating: Estimating;
  private readonly starting = new Starting(this);
  private readonly clusterCheck = new ClusterCheck(
    () => this.show(),
    (error) => this.report(error),
  );
  private counts: DataCounts | undefined;
  private plan: Plan | undefined;
  private estimate: EstimateView = estimateIn('none', '');
  private filled: Filled | undefined;
  /** The trainer's refusals of present values, by field name. */
  private refused: Values = {};
  private showing: Promise<void> = Promise.resolve();
  private asked = 0;
  private timer: NodeJS.Timeout | undefined;
  private isCollecting = false;

  constructor(
    panel: vscode.WebviewPanel,
    private state: FormState,
    private readonly on: NewRunContext,
    private readonly engine = on.engineOf(state.dataFolder),
  ) {
    super(panel, { ...on, name: 'newRun', icon: 'beaker', errors: engine });
    this.runs = new Runs(state.dataFolder);
    this.counting = new Counting(
      (counts) => this.onCounts(counts),
      (error) => this.report(error),
    );
    this.estimating = new Estimating(on.trainer, this);
    this.entitle();
    this.owns(
      engine.onDidChangeLog(() => this.countSoon()),
      engine.onDidChangeModels(() => this.show()),
      on.trainer.onDidChangePython(() => {
        this.estimating.forget();
        this.show();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.show()),
    );
  }

  get isCopy(): boolean {
    return this.state.copied !== undefined;
  }

  get fitsSimulator(): boolean {
    return fitsSimulator(this.state);
  }

  get dataFolder(): string {
    return this.state.dataFolder;
  }

  choose(values: Values): void {
    this.tell({ type: 'set', values });
  }

  onEstimate(view: EstimateView, plan: Plan | undefined): void {
    this.estimate = view;
    this.tell(view);
    if (plan === this.plan) return;
    this.plan = plan;
    this.tellData();
  }

  onStart(view: StartView): void {
    this.tell(view);
  }

  onRefused(sentence: string): boolean {
    const said = sentence.startsWith(`${FROM}: `) ? sentence.slice(FROM.length + 2) : sentence;
    const name = /^[a-z_]+(\.[a-z_]+)*/.exec(said)?.[0] ?? '';
    if (!isFieldPath(name) && !isClusterFieldPath(name)) return false;
    const field = name === 'model.base' ? (this.state.values.base === HUB ? HUB : 'base') : name;
    this.refused = { [field]: said };
    this.show();
    return true;
  }

  report(error: unknown): void {
    this.engine.report(error);
  }

  protected override onClosed(): void {
    this.counting.stop();
    this.estimating.end();
    this.cancel();
    this.clusterCheck.stop();
    clearTimeout(this.timer);
  }

  override readonly asks: Asks<FromWebview> = {
    ready: () => {
      this.tell({ type: 'begin', state: this.state });
      this.tell(this.estimate);
      this.starting.tell();
      this.tellData();
      this.show();
    },
    change: ({ values }) => {
      this.state = { ...this.state, values };
      this.entitle();
      // A run starts with the values at this moment; a change may be under way.
      if (this.starting.isStarting) return;
      this.refused = {};
      this.starting.forget();
      this.show();
    },
    browse: this.onceShown(() => this.browse()),
    start: this.onceShown(() => this.start()),
    cancel: this.onceShown(() => this.cancel()),
    openFile: this.onceShown(() => this.filled && this.on.openFile(this.engine, this.filled.configuration)),
    prepare: this.onceShown(async () => {
      if (await this.estimating.prepare()) this.show();
    }),
    plan: this.onceShown(() => this.estimating.plan()),
    askCluster: this.onceShown(() => this.clusterCheck.again()),
    collect: this.onceShown(() => this.collect()),
    generate: this.onceShown(() => vscode.commands.executeCommand(idOf('generateTasks'))),
    play: this.onceShown(() => vscode.commands.executeCommand(idOf('playNext'))),
    import: this.onceShown(() => vscode.commands.executeCommand(idOf('importTrajectories'))),
    trust: this.onceShown(() => manageTrust()),
  };

  private entitle(): void {
    const { copied } = this.state;
    this.title =
      copied !== undefined
        ? t('New run like {0}', copied.of)
        : this.fitsSimulator
          ? t('Fit a simulator')
          : t('New run');
  }

  /** A button acts on the form that the person sees. */
  private onceShown(act: () => unknown): () => Promise<unknown> {
    return () => this.showing.then(act);
  }

  private cancel(): void {
    this.starting.cancel();
    this.estimating.cancelInstallation();
  }

  private async collect(): Promise<void> {
    if (this.isCollecting) return;
    this.isCollecting = true;
    this.tellData();
    try {
      await this.on.collect(this.engine);
    } finally {
      this.isCollecting = false;
      this.tellData();
    }
  }

  private async browse(): Promise<void> {
    const folder = await pickFolder(t('Base model'), t('Train'));
    if (folder !== undefined) this.tell({ type: 'set', values: { base: folder.fsPath } });
  }

  private async start(): Promise<void> {
    // The number of workers may depend on the cluster.
    await this.clusterCheck.settled();
    await this.showing;
    const { filled, starting } = this;
    if (starting.isStarting) return;
    if (filled === undefined || Object.keys(filled.errors).length > 0 || restriction() !== '') {
      starting.tell();
      return;
    }
    // The run that starts needs the memory.
    this.estimating.end();
    const run = await starting.start(async (signal) => {
      const isReady = (await this.on.trainer.isInstalled()) || (await this.estimating.prepare());
      return isReady ? this.on.start(this.runs, filled.configuration, { from: FROM, signal }) : undefined;
    });
    if (run !== undefined) this.on.started(this, run);
    // The plan was given up for the start, so it is made again.
    else this.show();
  }

  private show(): void {
    this.asked += 1;
    const { asked } = this;
    this.showing = this.showOnce(asked).catch((error: unknown) => this.engine.show(error));
  }

  /** @param asked number of the request; a newer one replaces it */
  private async showOnce(asked: number): Promise<void> {
    const { state, engine, runs } = this;
    const log = await engine.log();
    const places = await trainablePlaces(engine.localPlaces);
    const { configuration: recommended, isSmall } = await recommendedFor(baseOf(state));
    const number = (await runs.ids()).length + 1;
    const packs = await this.on.packs();
    if (asked !== this.asked) return;
    const choices: Choices = {
      places: places.map(({ folder, name, from }) => ({ folder, name, ships: from === 'tandem' })),
      packFiles: packs.map(({ file, name, tasks }) => ({ file, name, tasks: tasks.length })),
      packs: log.valuesOf('pack', besides('pack', state.values)),
      agents: log.valuesOf('agent', besides('agent', state.values)),
      collaborators: log.valuesOf('collaborator', besides('collaborator', state.values)),
      called: (value, of) => sharedCalled(value, of, log, engine),
      dialogues: log.count({}).total,
    };
    const place = places.find(({ folder }) => folder === baseOf(state));
    const ships = place?.from === 'tandem';
    this.clusterCheck.update(restriction() === '' ? addressOf(state) : undefined);
    const context: FormContext = {
      ...{ recommended, dataFolder: state.dataFolder, cluster: this.clusterCheck.state },
      name: (method) =>
        state.copied !== undefined
          ? t('{0}, changed', state.copied.of)
          : fitsSimulator(state)
            ? t('Simulator {0}', number)
            : `${methodTitle(method, t)} ${number}`,
    };
    const suggested = await suggestedMethod(state, log, context);
    if (asked !== this.asked) return;
    const form =
      suggested === undefined ? state : { ...state, values: { ...state.values, method: suggested.method } };
    const { view, filled } = formView(form, choices, {
      ...context,
      restriction: restriction(),
      recommendation: recommendationWords(isSmall, ships, state.copied?.of),
      methodReason: suggested?.reason,
      ...(baseOf(form) !== '' &&
        !learnsFromRows(form) &&
        !fitsSimulator(form) && { warmStart: warmStart(form, log, place, isSmall) }),
    });
    this.filled = filled;
    this.tell({ ...view, errors: { ...view.errors, ...this.refused } });
    if (learnsFromLog(state)) this.counting.update(log, filled.configuration);
    else {
      this.counting.stop();
      this.counts = undefined;
    }
    this.tellData();
    this.estimateIfReady();
  }

  /** Data that are being counted are planned once they are known. */
  private estimateIfReady(): void {
    const { filled, starting, counts, runs } = this;
    const data = this.dataView();
    if (filled === undefined || starting.isStarting || data.isCounting) return;
    if (restriction() !== '') this.estimating.clear(restriction());
    else if (Object.keys(filled.errors).length > 0)
      this.estimating.clear(t('Fix the marked fields to see the plan.'));
    else if (data.problem !== '') this.estimating.clear(t('There is nothing to plan without data.'));
    else if (filled.cluster !== undefined && this.clusterCheck.state.state !== 'answers')
      this.estimating.clear(t('The run is planned when the cluster has answered.'));
    else
      this.estimating.update({
        ...this.worker(filled),
        ...{ runs, configuration: filled.configuration, from: FROM, data: JSON.stringify(counts ?? '') },
        needsDownload: this.state.values.base === HUB,
      });
  }

  private worker({ cluster, configuration }: Filled): { readonly worker?: WorkerMemory } {
    const { state } = this.clusterCheck;
    if (cluster === undefined || state.state !== 'answers') return {};
    const { workers, gpus_per_worker: gpus } = cluster.configuration;
    const { device } = configuration.model as { readonly device?: unknown };
    return { worker: workerMemory(state.cluster, { workers, isOnGpu: gpus > 0 && device !== 'cpu' }) };
  }

  private onCounts(counts: DataCounts | undefined): void {
    this.counts = counts;
    this.tellData();
    this.estimateIfReady();
  }

  private tellData(): void {
    this.tell(this.dataView());
  }

  private dataView(): DataView {
    const { counts, plan, state, isCollecting } = this;
    const isCounting = counts === undefined && learnsFromLog(state);
    const configuration = this.filled?.configuration ?? { method: methodOf(state) };
    const source = playsItself(state)
      ? path.basename(packIn(configuration))
      : learnsFromRows(state)
        ? (state.copied?.data ?? '')
        : '';
    return dataView({ counts, plan, configuration, isCounting, isCollecting, source });
  }

  private countSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.countAgain().catch((error: unknown) => this.report(error));
    }, AGAIN_AFTER_MS);
  }

  private async countAgain(): Promise<void> {
    const log = await this.engine.log();
    if (this.filled !== undefined && learnsFromLog(this.state))
      this.counting.update(log, this.filled.configuration, true);
    this.show();
  }

  private tell(message: ToWebview): void {
    if (this.isListening) void this.post(message);
  }
}

function warmStart(state: FormState, log: TrajectoryLog, place: LocalPlace | undefined, isSmall: boolean) {
  const won = (filter: TrajectoryFilter): number => log.count({ ...filter, outcome: 'success' }).total;
  const own = place && { agent: place.spec };
  return warmStartView({
    method: methodOf(state),
    isForeign: place?.from !== 'tandem' && place?.from !== 'training',
    played: own === undefined ? 0 : log.count({ ...own, state: 'answered' }).total,
    won: own === undefined ? 0 : won(own),
    ...{ successes: won({}), isSmall },
  });
}

const restriction = (): string => restrictionOf(t('Nothing is trained')) ?? '';

const SHARED = ['pack', 'agent', 'collaborator'] as const;

/** A list counts the dialogues that match the other lists. */
const besides = (list: (typeof SHARED)[number], values: Values): TrajectoryFilter =>
  Object.fromEntries(
    SHARED.flatMap((name) => (name === list || (values[name] ?? '') === '' ? [] : [[name, values[name]]])),
  );
