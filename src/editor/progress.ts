import * as vscode from 'vscode';

/** Reports the progress of work: its present step, and the fraction done when it is known. */
export type Report = (message: string, fraction?: number) => void;

/** Runs work with a notification that can cancel it. @returns undefined when it was cancelled, also by `cancelled` */
export async function cancellable<Result>(
  title: string,
  work: (signal: AbortSignal, report: Report) => Promise<Result>,
  cancelled?: AbortSignal,
): Promise<Result | undefined> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title, cancellable: true },
    async (progress, token) => {
      const cancel = new AbortController();
      const signal = AbortSignal.any([cancel.signal, ...(cancelled === undefined ? [] : [cancelled])]);
      const listening = token.onCancellationRequested(() => cancel.abort());
      let reported = 0;
      try {
        return await work(signal, (message, fraction = 0) => {
          progress.report({ message, increment: Math.max(0, 100 * fraction - reported) });
          reported = Math.max(reported, 100 * fraction);
        });
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      } finally {
        listening.dispose();
      }
    },
  );
}
