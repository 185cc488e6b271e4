import * as vscode from 'vscode';
import { Fault, messageOf } from '../../../core/fault';
import { UnfitMachine } from '../../../core/training/checks';
import type { Run } from '../../../core/training/runs';
import type { StartView } from '../../../../webview/newRun/protocol';
import { checksView } from './estimateView';
import type { EstimateOwner } from './estimator';

const { t } = vscode.l10n;

const notStarting: StartView = { type: 'start', isStarting: false, problem: '', checks: [] };

export interface StartingOwner extends Pick<EstimateOwner, 'onRefused' | 'report'> {
  onStart(view: StartView): void;
}

/** Starts one run at a time. */
export class Starting {
  private view = notStarting;
  private running: AbortController | undefined;

  constructor(private readonly owner: StartingOwner) {}

  get isStarting(): boolean {
    return this.running !== undefined;
  }

  /** Resends the state, for a page that restarted. */
  tell(): void {
    this.owner.onStart(this.view);
  }

  /** The last error was about earlier values. */
  forget(): void {
    if (!this.isStarting) this.show(notStarting);
  }

  cancel(): void {
    this.running?.abort();
  }

  /** @returns undefined when it was cancelled, failed (the owner is told), or another start is under way */
  async start(work: (signal: AbortSignal) => Promise<Run | undefined>): Promise<Run | undefined> {
    if (this.isStarting) return undefined;
    this.running = new AbortController();
    this.show({ ...notStarting, isStarting: true });
    try {
      const run = await work(this.running.signal);
      this.end(notStarting);
      return run;
    } catch (error) {
      this.owner.report(error);
      this.end(this.problemOf(error));
      return undefined;
    }
  }

  private end(view: StartView): void {
    this.running = undefined;
    this.show(view);
  }

  private problemOf(error: unknown): StartView {
    if (error instanceof UnfitMachine) {
      const checks = checksView(error.failed);
      return { ...notStarting, problem: t('This machine cannot train yet.'), checks };
    }
    if (error instanceof Fault && this.owner.onRefused(error.message)) return notStarting;
    return { ...notStarting, problem: messageOf(error) };
  }

  private show(view: StartView): void {
    this.view = view;
    this.tell();
  }
}
