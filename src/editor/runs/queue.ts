import * as vscode from 'vscode';
import { messageOf } from '../../core/fault';
import type { TakingOver } from '../../core/training/control';
import type { Run } from '../../core/training/runs';
import type { Trainer } from '../../core/training/trainer';
import { runsOf } from './resting';
import type { EditorTrainer } from '../trainer';
import type { RunWatch } from './watch';
import { isAtWorkHere, runName } from './words';

const { t } = vscode.l10n;

/**
 * One run trains at a time, of all logs of the window: begins the next one when the one before has ended, whichever
 * window has put it into the queue, and whatever has happened while none was open.
 */
export class RunQueue implements vscode.Disposable {
  private advancing: Promise<void> | undefined;
  private opened: Trainer | undefined;
  /** Why it could not begin the next one: it waits until a person says what to go on with. */
  private reason: string | undefined;
  /** How often a person has said what to go on with: by starting a run, or by naming another Python. */
  private choices = 0;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly registration: vscode.Disposable;

  /** It has halted, or goes on. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly show: (error: unknown) => void,
  ) {
    const soon = (): void => {
      if (this.reason === undefined) void this.advance();
    };
    this.registration = vscode.Disposable.from(
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

  /**
   * Why none of those that wait begins, though none is at work; undefined while nothing is wrong, or none waits. When
   * one has been at work meanwhile, it is tried again after it.
   */
  get halted(): string | undefined {
    const { all } = this.watch.everywhere;
    const isWaiting = all.some(({ queued }) => queued !== undefined) && !all.some(isAtWorkHere);
    return isWaiting ? this.reason : undefined;
  }

  /** Behind those that wait already; it begins at once when nothing is at work. */
  async add(run: Run, trainer: Trainer, taking: TakingOver = {}): Promise<void> {
    const { queueRun } = await import('../../core/training/control');
    await queueRun(runsOf(run), run.id, taking);
    await this.begin(trainer);
  }

  /** Begins the run whose turn it is, if it is anybody's. */
  async begin(trainer: Trainer): Promise<void> {
    this.goOnWith(trainer);
    await this.watch.look();
    await this.advance();
  }

  /** For a person who has mended what it halted for. What has to be installed is installed when they agree. */
  async tryAgain(): Promise<void> {
    const trainer = await this.trainer.openVisibly(t('Starting the next run'));
    if (trainer !== undefined) await this.begin(trainer);
  }

  dispose(): void {
    this.registration.dispose();
  }

  /** @param trainer undefined: one that has to be opened */
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
    if (trainer !== undefined && (await beginNext(logs, trainer)) !== undefined) await this.watch.look();
  }

  /** @returns undefined when there is none, or a person has chosen meanwhile: the next look goes on with that */
  private async openFor(run: Run): Promise<Trainer | undefined> {
    const { choices } = this;
    const isInstalled = await this.trainer.isInstalled();
    const opened = isInstalled ? await this.trainer.openVisibly(turnOf(run)) : undefined;
    if (choices !== this.choices) return undefined;
    this.opened = opened;
    if (!isInstalled) {
      this.haltFor(t('What training needs is not installed on this machine.'));
      void this.offerToInstall(run).catch(this.show);
    } else if (opened === undefined) this.haltFor(t('Its start was cancelled.'));
    return opened;
  }

  /** Nobody has just asked for anything, so that a question would stand in the way of what they do. */
  private async offerToInstall(run: Run): Promise<void> {
    const install = t('Install…');
    const chosen = await vscode.window.showInformationMessage(
      t(
        '{0} is next in the queue, but what training needs is not installed on this machine.',
        runName(run, t),
      ),
      install,
    );
    if (chosen !== install) return;
    const trainer = await this.trainer.openVisibly(turnOf(run));
    if (trainer !== undefined) await this.begin(trainer);
  }

  private halt(error: unknown): void {
    this.opened = undefined;
    const message = messageOf(error);
    // What the system says is no sentence.
    this.haltFor(/[.!?]$/.test(message) ? message : `${message}.`);
    this.show(error);
  }
}

const turnOf = (run: Run): string => t('{0}: next in the queue', runName(run, t));
