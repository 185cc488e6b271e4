import * as vscode from 'vscode';
import type { Run } from '../../core/training/runs';
import type { Trainer } from '../../core/training/trainer';
import { runsOf } from './resting';
import type { EditorTrainer } from '../trainer';
import type { RunWatch } from './watch';
import { runName } from './words';

const { t } = vscode.l10n;

/**
 * One run trains at a time, of all logs of the window: begins the next one when the one before has ended, whichever
 * window has put it into the queue, and whatever has happened while none was open.
 */
export class RunQueue implements vscode.Disposable {
  private advancing: Promise<void> | undefined;
  private opened: Trainer | undefined;
  /** It could not begin the next one, or was told not to: it waits until somebody starts a run. */
  private isHalted = false;
  private readonly registration: vscode.Disposable;

  constructor(
    private readonly watch: RunWatch,
    private readonly trainer: EditorTrainer,
    private readonly show: (error: unknown) => void,
  ) {
    this.registration = watch.onDidLook(() => {
      if (!this.isHalted) void this.advance();
    });
  }

  /** Behind those that wait already; it begins at once when nothing is at work. */
  async add(run: Run, trainer: Trainer): Promise<void> {
    const { queueRun } = await import('../../core/training/control');
    await queueRun(runsOf(run), run.id);
    await this.begin(trainer);
  }

  /** Begins the run whose turn it is, if it is anybody's. */
  async begin(trainer: Trainer): Promise<void> {
    this.opened = trainer;
    this.isHalted = false;
    await this.watch.look();
    await this.advance();
  }

  dispose(): void {
    this.registration.dispose();
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
    this.opened ??= await this.trainer.openVisibly(t('{0}: its turn has come', runName(next, t)));
    if (this.opened === undefined) this.isHalted = true;
    else if ((await beginNext(logs, this.opened)) !== undefined) await this.watch.look();
  }

  private halt(error: unknown): void {
    this.isHalted = true;
    this.opened = undefined;
    this.show(error);
  }
}
