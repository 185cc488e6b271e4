import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type * as vscode from 'vscode';
import { english } from './translate';

/*
 * A stand-in for the module `vscode` with the parts that events and dialogs of the editor's side need:
 * `vi.mock('vscode', () => import('./vscode'))`. The workbench suite tests the editor's drawing.
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

export const Uri = {
  file: (fsPath: string) => ({ fsPath }),
  from: (parts: object) => parts,
  joinPath: (...parts: unknown[]) => parts.join('/'),
};

export const ViewColumn = { Active: -1, Beside: -2, One: 1, Two: 2, Three: 3 };

/** A webview panel; the test acts as its page. */
export class WebviewPanel {
  title = '';
  visible = true;
  active = true;
  isClosed = false;
  readonly posted: unknown[] = [];
  private readonly closed = new EventEmitter<void>();
  private readonly changed = new EventEmitter<void>();
  private listen: (said: unknown) => Promise<void> = () => Promise.resolve();
  readonly onDidDispose = this.closed.event;
  readonly onDidChangeViewState = this.changed.event;
  readonly reveal = vi.fn();
  readonly webview = {
    html: '',
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: (listener: (said: unknown) => Promise<void>) => (this.listen = listener),
    postMessage: (message: unknown) => Promise.resolve(this.posted.push(message)),
  };

  constructor() {
    // A panel in sight would load its page again in a later test.
    onTestFinished(() => this.show(false));
  }

  /** Sends a message from the page. */
  say(said: unknown): Promise<void> {
    return this.listen(said);
  }

  /** Changes the visibility of the panel. */
  show(visible: boolean): void {
    this.visible = visible;
    this.changed.fire();
  }

  dispose(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closed.fire();
  }
}

export class RelativePattern {
  constructor(
    readonly base: { readonly fsPath: string },
    readonly pattern: string,
  ) {}
}

const foldersChanged = new EventEmitter<void>();
const never = (): Disposable => new Disposable(() => undefined);

/** Emits the event of an added or removed workspace folder. */
export const changeFolders = (): void => foldersChanged.fire();

const trusted = new EventEmitter<void>();

/** The person trusts the workspace. */
export function grantTrust(): void {
  workspace.isTrusted = true;
  trusted.fire();
}

export const workspace = {
  isTrusted: true,
  workspaceFolders: undefined as { readonly uri: { readonly fsPath: string } }[] | undefined,
  /** Returns the files directly in the folder, whatever the pattern is. */
  findFiles: async ({ base }: RelativePattern) => {
    const folder = 'uri' in base ? (base.uri as { fsPath: string }).fsPath : base.fsPath;
    return (await readdir(folder)).map((name) => Uri.file(path.join(folder, name)));
  },
  fs: { writeFile: ({ fsPath }: { readonly fsPath: string }, bytes: Uint8Array) => writeFile(fsPath, bytes) },
  onDidChangeWorkspaceFolders: foldersChanged.event,
  onDidChangeConfiguration: never,
  getWorkspaceFolder: (file: { readonly fsPath: string }) =>
    workspace.workspaceFolders?.find(({ uri }) => file.fsPath.startsWith(`${uri.fsPath}${path.sep}`)),
  onDidGrantWorkspaceTrust: trusted.event,
  asRelativePath: (file: string) => path.basename(file),
  createFileSystemWatcher: () => ({
    ...{ onDidCreate: never, onDidChange: never, onDidDelete: never },
    dispose: () => undefined,
  }),
};

/** Cancels a progress notification. */
export const cancelled = new EventEmitter<void>();

export const QuickInputButtons = { Back: {} };
export const QuickPickItemKind = { Separator: -1, Default: 0 };

/** A quick pick or input box; `acts` holds the person's actions. */
export class Input {
  value = '';
  items: readonly { readonly label: string }[] = [];
  activeItems: readonly { readonly label: string }[] = [];
  selectedItems: readonly { readonly label: string }[] = [];
  readonly accepted = new EventEmitter<void>();
  readonly hidden = new EventEmitter<void>();
  readonly changed = new EventEmitter<string>();
  readonly selected = new EventEmitter<Input['selectedItems']>();
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  readonly onDidChangeValue = this.changed.event;
  readonly onDidChangeSelection = this.selected.event;
  readonly onDidTriggerButton = never;
  readonly onDidTriggerItemButton = never;
  readonly dispose = (): void => undefined;

  show(): void {
    queueMicrotask(() => acts.shift()?.(this));
  }

  /** Types a text in place of the one before. */
  write(text: string): void {
    this.value = text;
    this.changed.fire(text);
  }

  /** Types a text and accepts it. */
  type(text: string): void {
    this.write(text);
    this.activeItems = this.items.slice(0, 1);
    this.accepted.fire();
  }

  /** Ticks the item whose label contains this, or takes its tick away. */
  toggle(label: string): void {
    const { selectedItems: ticked } = this;
    const item = this.items.find((one) => one.label.includes(label))!;
    this.selectedItems = ticked.includes(item) ? ticked.filter((one) => one !== item) : [...ticked, item];
    this.selected.fire(this.selectedItems);
  }

  /** Accepts the item whose label contains this. */
  take(label: string): void {
    this.activeItems = this.items.filter((item) => item.label.includes(label));
    this.accepted.fire();
  }
}

/** The person's action for each shown input, in order. */
export const acts: ((input: Input) => unknown)[] = [];

export const ProgressLocation = { Notification: 15 };

/** The messages shown to a person, and the person's answers. */
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
  registerWebviewPanelSerializer: never,
  createWebviewPanel: vi.fn(() => new WebviewPanel()),
  createTreeView: () => ({ visible: true, onDidChangeVisibility: never, dispose: () => undefined }),
  showInformationMessage: vi.fn<(message: string, ...items: unknown[]) => Promise<unknown>>(() =>
    Promise.resolve(undefined),
  ),
  showSaveDialog: vi.fn<(options: unknown) => Promise<{ readonly fsPath: string } | undefined>>(() =>
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

export class LanguageModelTextPart {
  constructor(readonly value: string) {}
}

export class LanguageModelToolResult {
  constructor(readonly content: readonly unknown[]) {}
}

export const lm = {
  /** Registered tools by their names. */
  tools: new Map<string, unknown>(),
  registerTool(name: string, tool: unknown): Disposable {
    this.tools.set(name, tool);
    return new Disposable(() => this.tools.delete(name));
  },
};
