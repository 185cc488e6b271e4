import * as vscode from 'vscode';

/** @param options `changes`: false for folders, which change with every file in them */
export function watch(
  folder: string,
  glob: string,
  onEvent: () => void,
  { changes = true } = {},
): vscode.Disposable {
  const pattern = new vscode.RelativePattern(vscode.Uri.file(folder), glob);
  const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, !changes);
  return vscode.Disposable.from(
    watcher,
    ...[watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete].map((event) => event(onEvent)),
  );
}

/** Runs work after the extension's activation, which it would delay; disposal before that cancels it. */
export function afterActivation(work: () => void): vscode.Disposable {
  const soon = setImmediate(work);
  return new vscode.Disposable(() => clearImmediate(soon));
}

/** Work that does not overlap itself. Who asks during it has it done again, because it may have missed what is new. */
export class OneAtATime {
  private working: Promise<void> | undefined;
  private isAskedAgain = false;

  /** @param work reports its own errors */
  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when the work was done from beginning to end since the call. */
  do(): Promise<void> {
    this.isAskedAgain = true;
    this.working ??= this.untilCalm();
    return this.working;
  }

  private async untilCalm(): Promise<void> {
    try {
      while (this.isAskedAgain) {
        this.isAskedAgain = false;
        await this.work();
      }
    } finally {
      this.working = undefined;
    }
  }
}

/** Disposes of what it owns. */
export abstract class Owner implements vscode.Disposable {
  private readonly owned: { dispose(): unknown }[] = [];

  protected owns(...things: readonly { dispose(): unknown }[]): void {
    this.owned.push(...things);
  }

  dispose(): void {
    vscode.Disposable.from(...this.owned).dispose();
  }
}
