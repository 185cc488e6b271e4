import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';

export type Report = (message: string, fraction?: number) => void;

/** Long work of this window, for the status bar (status.ts). */
export interface LongWork {
  readonly title: string;
  readonly message: string;
  readonly fraction?: number;
  /** Shows it; without one, the notification does. */
  readonly command?: string;
}

class LongWorks {
  private readonly works = new Map<string, LongWork>();
  private readonly listeners = new Set<() => void>();

  /** The latest to begin. */
  get now(): LongWork | undefined {
    return [...this.works.values()].at(-1);
  }

  tell(id: string, work: LongWork | undefined): void {
    if (work === undefined) this.works.delete(id);
    else this.works.set(id, work);
    for (const listener of this.listeners) listener();
  }

  onDidChange(listener: () => void): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  }
}

export const longWorks = new LongWorks();

type Work<Result> = (signal: AbortSignal, report: Report) => Promise<Result>;

export interface WorkCaller {
  readonly signal?: AbortSignal;
  /** Command of a page that shows the work and can cancel it, in place of the notification. */
  readonly page?: string;
}

/** Runs work with a notification that can cancel it. @returns undefined when it was cancelled, also by the caller */
export async function cancellable<Result>(
  title: string,
  work: Work<Result>,
  caller: WorkCaller = {},
): Promise<Result | undefined> {
  const signals = caller.signal === undefined ? [] : [caller.signal];
  if (caller.page !== undefined)
    return inStatusBar({ title, command: caller.page }, work, AbortSignal.any(signals));
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const cancel = new AbortController();
      const listening = token.onCancellationRequested(() => cancel.abort());
      let reported = 0;
      const notified: Work<Result> = (signal, report) =>
        work(signal, (message, fraction) => {
          report(message, fraction);
          const percent = 100 * (fraction ?? 0);
          progress.report({ message, increment: Math.max(0, percent - reported) });
          reported = Math.max(reported, percent);
        });
      try {
        return await inStatusBar({ title }, notified, AbortSignal.any([cancel.signal, ...signals]));
      } finally {
        listening.dispose();
      }
    },
  );
}

async function inStatusBar<Result>(
  shown: Pick<LongWork, 'title' | 'command'>,
  work: Work<Result>,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const id = randomUUID();
  longWorks.tell(id, { ...shown, message: '' });
  try {
    return await work(signal, (message, fraction) =>
      longWorks.tell(id, { ...shown, message, ...(fraction !== undefined && { fraction }) }),
    );
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    longWorks.tell(id, undefined);
  }
}
