import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import type { Check, Plan } from '../../../core/training/checks';
import type { WorkerMemory } from '../../../core/training/cluster';
import type { Planner } from '../../../core/training/planner';
import type { Runs } from '../../../core/training/runs';
import type { Trainer } from '../../../core/training/trainer';
import type { EstimateView } from '../../../../webview/newRun/protocol';
import { environmentSize } from '../../../core/training/environment/cache';
import { idOf } from '../../contributions';
import { installStep, type Installing, type EditorTrainer } from '../../trainer';
import { bytesWords } from '../../words';
import { checksView, estimateIn, planView } from './estimateView';

const { t } = vscode.l10n;

/** Milliseconds without typing or clicking before a plan is made. */
const REST_MS = 800;
/** As above for a log that grows while the form is open. */
const LOG_REST_MS = 3000;

export interface EstimateRequest {
  readonly runs: Runs;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly from: string;
  /** Identifies the selected data. */
  readonly data: string;
  /** Absent when this machine trains it. */
  readonly worker?: WorkerMemory;
  /** A model on the hub is planned on request, until it has been downloaded once. */
  readonly needsDownload: boolean;
}

export interface EstimateOwner {
  /** @param plan undefined while the form's present values have none */
  onEstimate(view: EstimateView, plan: Plan | undefined): void;
  /** Called when the trainer refuses a configuration; true if a field shows the sentence now. */
  onRefused(sentence: string): boolean;
  report(error: unknown): void;
}

/** Plans the form's latest values once the trainer's environment is ready. */
export class Estimating {
  private request: EstimateRequest | undefined;
  private running: AbortController | undefined;
  private timer: NodeJS.Timeout | undefined;
  private trainer: Trainer | undefined;
  private planner: Planner | undefined;
  /** While this is pending, neither a plan nor a second offer to prepare is shown. */
  private preparing: Promise<boolean> | undefined;
  private installing: AbortController | undefined;
  /** Number of changes of the Python; results of an older one are dropped. */
  private named = 0;
  /** By the part of the configuration that they depend on. */
  private readonly examined = new Map<string, readonly Check[]>();
  /** Hub models that can be planned without a request. */
  private readonly downloaded = new Set<string>();

  constructor(
    private readonly environment: Pick<EditorTrainer, 'isInstalled' | 'open' | 'openVisibly' | 'prompts'>,
    private readonly owner: EstimateOwner,
  ) {}

  update(request: EstimateRequest): void {
    if (this.preparing !== undefined) return;
    const before = this.request;
    const isSame =
      JSON.stringify([request.configuration, request.worker]) ===
      JSON.stringify([before?.configuration, before?.worker]);
    if (isSame && request.data === before?.data) return;
    this.stop();
    this.request = request;
    if (request.needsDownload && !this.downloaded.has(onHub(request))) {
      const sentence = t('To plan it, the model’s configuration and tokenizer are downloaded from the hub.');
      this.tell(estimateIn('asked', sentence));
      return;
    }
    this.tell(estimateIn('working', t('Planning …')));
    this.timer = setTimeout(() => this.plan(), isSame ? LOG_REST_MS : REST_MS);
  }

  clear(sentence = ''): void {
    this.stop();
    if (this.preparing === undefined) this.tell(estimateIn('none', sentence));
  }

  plan(): void {
    const { request } = this;
    if (request === undefined || this.preparing !== undefined) return;
    this.stop();
    this.request = request;
    const running = new AbortController();
    this.running = running;
    this.planOnce(request, running.signal).catch((error: unknown) => {
      if (!running.signal.aborted) this.failed(error);
    });
  }

  /** Makes the trainer's environment, once at a time; true if the form is to be planned with it. */
  prepare(): Promise<boolean> {
    this.preparing ??= this.prepareOnce();
    return this.preparing;
  }

  cancelInstallation(): void {
    this.installing?.abort();
  }

  /** Drops the results of the former Python; the owner updates afterwards. */
  forget(): void {
    this.end();
    this.named += 1;
    this.trainer = undefined;
    this.preparing = undefined;
    this.examined.clear();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = undefined;
    this.request = undefined;
  }

  /** Ends the planner, too, to free its memory. */
  end(): void {
    this.stop();
    this.planner?.end();
    this.planner = undefined;
  }

  private async prepareOnce(): Promise<boolean> {
    const { named } = this;
    const isForgotten = (): boolean => named !== this.named;
    const summary = t('Installing what training needs');
    const tell = (installing: Installing): void => {
      if (isForgotten()) return;
      const state = installing.isDone ? 'none' : 'working';
      this.tell({ ...estimateIn(state, ''), summary, installing: installStep(installing, t) });
    };
    const cancel = (this.installing = new AbortController());
    let trainer: Trainer | undefined;
    let problem = '';
    try {
      trainer = await this.environment.openVisibly(
        summary,
        (said, fraction) => tell({ isDone: false, said, ...(fraction !== undefined && { fraction }) }),
        { signal: cancel.signal, page: idOf('newRun') },
      );
      if (trainer !== undefined) tell({ isDone: true, said: '' });
    } catch (error) {
      this.owner.report(error);
      problem = messageOf(error);
    }
    if (isForgotten()) return false;
    this.preparing = undefined;
    this.trainer = trainer;
    if (trainer === undefined) this.tellUnprepared(problem);
    else this.request = undefined;
    return trainer !== undefined;
  }

  private async planOnce(request: EstimateRequest, signal: AbortSignal): Promise<void> {
    const { runs, configuration: value, from, worker } = request;
    // A newer plan is shown already.
    const tell = (view: EstimateView, plan?: Plan): void => {
      if (!signal.aborted) this.owner.onEstimate(view, plan);
    };
    if (this.trainer === undefined && !(await this.environment.isInstalled())) {
      if (!signal.aborted) this.tellUnprepared();
      return;
    }
    const trainer =
      this.trainer ?? (await this.environment.open(signal, (line) => tell(estimateIn('working', line))));
    // The Python may have changed meanwhile.
    signal.throwIfAborted();
    this.trainer = trainer;
    const { parseConfiguration } = await import('../../../core/training/configuration');
    const { planRun, examineRun } = await import('../../../core/training/start');
    const { Planner } = await import('../../../core/training/planner');
    const configuration = await parseConfiguration(value, { from, folder: runs.dataFolder });
    const { prompts } = this.environment;
    const options = { configuration, trainer, prompts, signal };
    tell(estimateIn('working', t('Planning …')));
    const { device, training } = modelOf(request);
    // The nodes of a cluster may differ from this machine.
    const isOnCluster = worker !== undefined;
    const machine = JSON.stringify([device, training, isOnCluster]);
    const examine = async (again: boolean): Promise<readonly Check[]> => {
      const checks = this.examined.get(machine) ?? (await examineRun(runs, options, again));
      this.examined.set(machine, checks);
      return checks;
    };
    let plan: Plan;
    try {
      // The plan may have been given up meanwhile; then no planner is started.
      signal.throwIfAborted();
      this.planner ??= new Planner(trainer);
      ({ plan } = await planRun(runs, options, { planner: this.planner, ...(worker && { worker }) }));
      this.downloaded.add(onHub(request));
    } catch (error) {
      if (signal.aborted || !(error instanceof Fault)) throw error;
      const isMarked = this.owner.onRefused(error.message);
      const state = isMarked ? 'none' : 'failed';
      const sentence = isMarked ? t('Fix the marked fields to see the plan.') : error.message;
      tell(estimateIn(state, sentence));
      // The machine may be the reason for the failure.
      tell(estimateIn(state, sentence, checksView(await examine(true))));
      return;
    }
    tell(planView(plan, this.examined.get(machine) ?? [], isOnCluster), plan);
    if (this.examined.has(machine)) return;
    const checks = await examine(false);
    tell(planView(plan, checks, isOnCluster), plan);
  }

  /** @param problem why the environment could not be prepared */
  private tellUnprepared(problem = ''): void {
    const download = bytesWords(environmentSize().download, t);
    this.tell({
      ...estimateIn('unprepared', t('Memory and time are estimated after the installation.')),
      ...{ problem, summary: t('about {0} to download first', download) },
      installing: installStep({ isDone: false, said: '' }, t),
    });
  }

  private failed(error: unknown): void {
    this.owner.report(error);
    this.tell(estimateIn('failed', messageOf(error)));
  }

  private tell(view: EstimateView): void {
    this.owner.onEstimate(view, undefined);
  }
}

function onHub(request: EstimateRequest): string {
  const { base, revision } = modelOf(request);
  return JSON.stringify([base, revision ?? null]);
}

const modelOf = ({ configuration }: EstimateRequest): Readonly<Record<string, unknown>> =>
  (configuration.model ?? {}) as Readonly<Record<string, unknown>>;
