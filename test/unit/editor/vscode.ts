import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { vi } from 'vitest';
import type * as vscode from 'vscode';
import { english } from './translate';

/*
 * The module `vscode` as far as classes of the editor's side need it that say something to each other and to a person:
 * `vi.mock('vscode', () => import('./vscode'))`. What the editor draws is shown in the workbench.
 */

export const l10n = { t: english };

export class Disposable {
  constructor(private readonly end: () => unknown) {}

  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }

  dispose(): void {
    this.end();
  }
}

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();

  readonly event = (listener: (value: T) => unknown): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };

  fire(value: T): void {
    for (const listener of [...this.listeners]) listener(value);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class ThemeIcon {
  constructor(readonly id: string) {}
}

export class ThemeColor {
  constructor(readonly id: string) {}
}

export class TreeItem {
  constructor(readonly label: string) {}
}

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };

export class MarkdownString {
  constructor(public value = '') {}

  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
}

export const Uri = { file: (fsPath: string) => ({ fsPath }), from: (parts: object) => parts };

export class RelativePattern {
  constructor(
    readonly base: { readonly fsPath: string },
    readonly pattern: string,
  ) {}
}

const foldersChanged = new EventEmitter<void>();
const never = (): Disposable => new Disposable(() => undefined);

/** As when a folder is added to the workspace or taken out of it. */
export const changeFolders = (): void => foldersChanged.fire();

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as { readonly uri: { readonly fsPath: string } }[] | undefined,
  /** Whatever the pattern, the files that stand in the folder itself. */
  findFiles: async ({ base }: RelativePattern) => {
    const folder = 'uri' in base ? (base.uri as { fsPath: string }).fsPath : base.fsPath;
    return (await readdir(folder)).map((name) => Uri.file(path.join(folder, name)));
  },
  onDidChangeWorkspaceFolders: foldersChanged.event,
  onDidChangeConfiguration: never,
  getWorkspaceFolder: (file: { readonly fsPath: string }) =>
    workspace.workspaceFolders?.find(({ uri }) => file.fsPath.startsWith(`${uri.fsPath}${path.sep}`)),
  onDidGrantWorkspaceTrust: never,
  asRelativePath: (file: string) => path.basename(file),
  createFileSystemWatcher: () => ({
    ...{ onDidCreate: never, onDidChange: never, onDidDelete: never },
    dispose: () => undefined,
  }),
};

/** Where a person cancels what they are shown the progress of. */
export const cancelled = new EventEmitter<void>();

export const QuickInputButtons = { Back: {} };
export const QuickPickItemKind = { Separator: -1, Default: 0 };

/** A list or a line that is asked for. What a person does with it is in `acts`. */
export class Input {
  value = '';
  items: readonly { readonly label: string }[] = [];
  activeItems: readonly { readonly label: string }[] = [];
  readonly accepted = new EventEmitter<void>();
  readonly hidden = new EventEmitter<void>();
  readonly changed = new EventEmitter<string>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidChangeValue = this.changed.event;
  readonly onDidTriggerButton = never;
  readonly dispose = (): void => undefined;

  show(): void {
    queueMicrotask(() => acts.shift()?.(this));
  }

  /** Types a text and takes it. */
  type(text: string): void {
    this.value = text;
    this.changed.fire(text);
    this.activeItems = this.items.slice(0, 1);
    this.accepted.fire();
  }

  /** Takes the item whose label contains this. */
  take(label: string): void {
    this.activeItems = this.items.filter((item) => item.label.includes(label));
    this.accepted.fire();
  }
}

/** What a person does with each input that is shown, one after the other. */
export const acts: ((input: Input) => unknown)[] = [];

export const ProgressLocation = { Notification: 15 };

/** What a person is told, and what they answer. */
export const window = {
  state: { focused: true },
  showErrorMessage: vi.fn<(message: string, ...items: unknown[]) => Promise<unknown>>(() =>
    Promise.resolve(undefined),
  ),
  withProgress: <Result>(_: unknown, work: (progress: unknown, token: unknown) => Promise<Result>) =>
    work({ report: () => undefined }, { onCancellationRequested: cancelled.event }),
  onDidChangeWindowState: never,
  createInputBox: () => new Input(),
  createQuickPick: () => new Input(),
  createTreeView: () => ({ visible: true, onDidChangeVisibility: never, dispose: () => undefined }),
  showInformationMessage: vi.fn<(message: string, ...items: unknown[]) => Promise<unknown>>(() =>
    Promise.resolve(undefined),
  ),
  showQuickPick: vi.fn<(rows: unknown, options: unknown) => Promise<unknown>>(() =>
    Promise.resolve(undefined),
  ),
  showWarningMessage: vi.fn<(message: string, ...items: unknown[]) => Promise<unknown>>(() =>
    Promise.resolve(undefined),
  ),
};

export const commands = {
  executeCommand: vi.fn<(...command: unknown[]) => Promise<void>>(() => Promise.resolve()),
};

export const env = { language: 'en' } satisfies Partial<typeof vscode.env>;
