import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../../core/fault';
import { type Run, type Runs, runsOf } from '../../core/training/runs';
import type { Preparing } from '../../core/training/start';
import { Owner } from '../background';
import type { Engine } from '../engine';
import { cancellable, type WorkCaller } from '../progress';
import type { EditorTrainer } from '../trainer';
import type { RunWatch } from './runWatch';
import type { TakeOverOptions } from '../../core/training/lifecycle';
import type { Trainer } from '../../core/training/trainer';
import { isAtWorkHere, runName } from '../run/words';

const { t } = vscode.l10n;

interface StartedFrom extends WorkCaller {
  readonly from: string;
  readonly folder: string;
  readonly runs?: Runs;
}

export class RunStarter {
  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly queue: RunQueue,
  ) {}

  /** @throws {Fault} `training/bad-configuration` */
  async startFrom(document: vscode.TextDocument, engine: Engine): Promise<Run | undefined> {
    let value: unknown;
    try {
      value = JSON.parse(document.getText());
    } catch (error) {
      throw new Fault(
        'training/bad-configuration',
        t('{0} is not valid JSON: {1}. Fix it, then start it again.', nameOf(document), messageOf(error)),
      );
    }
    const folder = document.isUntitled
      ? (engine.configuration.folder?.uri.fsPath ?? engine.dataFolder)
      : path.dirname(document.uri.fsPath);
    return this.start(value, { from: nameOf(document), folder });
  }

  /**
   * @param folder against which relative paths of the configuration resolve
   * @param runs by default those of the shown log
   * @returns undefined when the person declined or cancelled: then there is no run
   * @throws {Fault} as `startRun`, and `editor/no-folder`
   */
  async start(
    value: unknown,
    { from, folder, runs = this.watch.runs, ...caller }: StartedFrom,
  ): Promise<Run | undefined> {
    if (runs === undefined)
      throw new Fault('editor/no-folder', t('Open a folder first: runs are kept in it.'));
    const { parseConfiguration } = await import('../../core/training/configuration');
    const { startRun } = await import('../../core/training/start');
    const configuration = await parseConfiguration(value, { from, folder });
    if (!(await this.trainer.mayInstall())) return undefined;
    const prepared = await cancellable(
      t('Starting a run'),
      async (signal, report) => {
        report(t('looking for the trainer'));
        const trainer = await this.trainer.open(signal, report);
        const run = await startRun(runs, {
          ...{ configuration, trainer, signal, queued: true },
          prompts: this.trainer.prompts,
          onProgress: (what) => report(preparingWords[what]),
        });
        return { run, trainer };
      },
      caller,
    );
    if (prepared === undefined) return undefined;
    // The run exists now: stop it instead of cancelling.
    await this.queue.begin(prepared.trainer);
    return runs.read(prepared.run.id);
  }
}

const preparingWords: Readonly<Record<Preparing, string>> = {
  data: t('taking the data from the log'),
  checks: t('checking configuration and machine'),
  plan: t('planning'),
  launch: t('launching the trainer'),
};

const nameOf = ({ fileName }: vscode.TextDocument): string => path.basename(fileName);

/** Trains one run at a time, over all logs of the window; any window may queue a run. */
export class RunQueue extends Owner {
  private advancing: Promise<void> | undefined;
  private opened: Trainer | undefined;
  /** Why the next run could not start; the queue then waits for the person. */
  private reason: string | undefined;
  /** Counts the person's choices: a run started, or another Python named. */
  private choices = 0;
  private readonly changed = new vscode.EventEmitter<void>();

  /** Fires when the queue halts or resumes. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly show: (error: unknown) => void,
  ) {
    super();
    const soon = (): void => {
      if (this.reason === undefined) void this.advance();
    };
    this.owns(
      this.changed,
      watch.onDidLook(soon),
      watch.onDidEnd(() => {
        if (this.reason === undefined) return;
        this.goOnWith(undefined);
        soon();
      }),
      trainer.onDidChangePython(() => {
        this.goOnWith(undefined);
        soon();
      }),
    );
  }

  /** Undefined while a run is at work, because the queue tries again afterwards. */
  get halted(): string | undefined {
    const { all } = this.watch.everywhere;
    const isWaiting = all.some(({ queued }) => queued !== undefined) && !all.some(isAtWorkHere);
    return isWaiting ? this.reason : undefined;
  }

  /** Starts at once when no run is at work. */
  async add(run: Run, trainer: Trainer, taking: TakeOverOptions = {}): Promise<void> {
    const { queueRun } = await import('../../core/training/lifecycle');
    await queueRun(runsOf(run), run.id, taking);
    await this.begin(trainer);
  }

  async begin(trainer: Trainer): Promise<void> {
    this.goOnWith(trainer);
    await this.watch.look();
    await this.advance();
  }

  /** Installs missing packages when the person agrees. */
  async tryAgain(): Promise<void> {
    const trainer = await this.trainer.openVisibly(t('Starting the next run'));
    if (trainer !== undefined) await this.begin(trainer);
  }

  /** @param trainer undefined when it has yet to be opened */
  private goOnWith(trainer: Trainer | undefined): void {
    this.choices += 1;
    this.opened = trainer;
    this.haltFor(undefined);
  }

  private haltFor(reason: string | undefined): void {
    if (reason === this.reason) return;
    this.reason = reason;
    this.changed.fire();
  }

  private async advance(): Promise<void> {
    this.advancing ??= this.advanceOnce()
      .catch((error: unknown) => this.halt(error))
      .finally(() => {
        this.advancing = undefined;
      });
    await this.advancing;
  }

  private async advanceOnce(): Promise<void> {
    const { logs, all } = this.watch.everywhere;
    if (!all.some(({ queued }) => queued !== undefined)) return;
    const { beginNext, nextOf } = await import('../../core/training/queue');
    const next = nextOf(all);
    if (next === undefined || !vscode.workspace.isTrusted) return;
    const trainer = this.opened ?? (await this.openFor(next));
    if (trainer === undefined) return;
    if ((await beginNext(logs, trainer, this.trainer.prompts)) !== undefined) await this.watch.look();
  }

  /** @returns undefined when there is none, or the person chose meanwhile: then the next look follows that choice */
  private async openFor(run: Run): Promise<Trainer | undefined> {
    const { choices } = this;
    const isInstalled = await this.trainer.isInstalled();
    const opened = isInstalled ? await this.trainer.openVisibly(turnOf(run)) : undefined;
    if (choices !== this.choices) return undefined;
    this.opened = opened;
    if (!isInstalled) {
      this.haltFor(t('What training needs is not installed on this machine.'));
      void this.offerToInstall(run).catch(this.show);
    } else if (opened === undefined) this.haltFor(t('Its start was canceled.'));
    return opened;
  }

  /** A notification, because a dialog would interrupt. */
  private async offerToInstall(run: Run): Promise<void> {
    const install = t('Install…');
    const chosen = await vscode.window.showInformationMessage(
      t('{0} is next in the queue, but what training needs is not installed on this machine.', runName(run)),
      install,
    );
    if (chosen !== install) return;
    const trainer = await this.trainer.openVisibly(turnOf(run));
    if (trainer !== undefined) await this.begin(trainer);
  }

  private halt(error: unknown): void {
    this.opened = undefined;
    const message = messageOf(error);
    // A system message may lack its full stop.
    this.haltFor(/[.!?]$/.test(message) ? message : `${message}.`);
    this.show(error);
  }
}

const turnOf = (run: Run): string => t('{0}: next in the queue', runName(run));
