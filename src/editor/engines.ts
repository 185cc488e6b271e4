import path from 'node:path';
import * as vscode from 'vscode';
import { type ApiKeys, Servers } from './servers';
import { FolderSettings } from './configuration';
import { Grading } from './grading';
import { Engine, type SharedParts } from './engine';
import { Logs } from './logs';
import { EditorModels } from './editorModels';
import { LoadedModels } from './loadedModels';
import type { LocalPlace } from './localModels';
import { Pages, sheetIn } from './pages';
import { Owner, afterActivation } from './background';
import { contextKeys } from './contributions';

/** One engine for each folder, because each has its own settings and log. Models, grader and open logs are shared. */
export class Engines implements vscode.Disposable {
  /** Engine of the first folder, or of a window without one. It lives as long as the extension. */
  readonly first: Engine;
  readonly shown: ShownLog;
  private readonly byFolder = new Map<string, Engine>();
  private readonly shared: SharedParts;
  private readonly changed = new vscode.EventEmitter<{
    readonly engine: Engine;
    readonly episodes: readonly string[];
  }>();
  private readonly disposables: { dispose(): unknown }[];

  /** Fires when dialogues changed in the log of a folder; no ids mean that any may have changed. */
  readonly onDidChangeLog = this.changed.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    configuration: FolderSettings,
    keys: ApiKeys,
    output: vscode.LogOutputChannel,
  ) {
    const modelsChanged = new vscode.EventEmitter<void>();
    const report = (error: unknown): void => this.first.report(error);
    const dist = context.asAbsolutePath('dist');
    const references = path.join(context.globalStorageUri.fsPath, 'references');
    this.shared = {
      keys,
      output,
      logs: new Logs(output, report),
      grading: new Grading(configuration, dist, references, report, (sentence) => output.warn(sentence)),
      pages: new Pages(configuration, sheetIn(dist), path.join(dist, 'embedding.js'), report),
      locals: new LoadedModels(openLocal, () => modelsChanged.fire(), report),
      servers: new Servers(configuration, keys, () => modelsChanged.fire(), vscode.l10n.t),
      editorModels: new EditorModels(() => modelsChanged.fire()),
      onDidChangeModels: modelsChanged.event,
    };
    this.first = this.make(configuration);
    this.shown = new ShownLog(this, context.workspaceState);
    this.disposables = [
      this.changed,
      this.shown,
      modelsChanged,
      this.shared.editorModels,
      this.shared.logs,
      configuration.onDidChange(() => void this.keepWhatIsUsed()),
      vscode.workspace.onDidChangeWorkspaceFolders(({ removed }) => this.forget(removed)),
    ];
  }

  get all(): readonly Engine[] {
    const { workspaceFolders: folders = [] } = vscode.workspace;
    return folders.length === 0 ? [this.first] : folders.map((folder) => this.in(folder));
  }

  of(file: string | undefined): Engine {
    const folder =
      file === undefined ? undefined : vscode.workspace.getWorkspaceFolder(vscode.Uri.file(file));
    return folder === undefined ? this.first : this.in(folder);
  }

  get logs(): readonly FolderLog[] {
    const byDataFolder = Map.groupBy(this.all, (engine) => engine.dataFolder);
    return [...byDataFolder.values()].map((engines) => ({
      engine: engines[0]!,
      name: engines.flatMap(({ configuration }) => configuration.folder?.name ?? []).join(', '),
    }));
  }

  withDataFolder(dataFolder: string | undefined): Engine | undefined {
    if (dataFolder === undefined || dataFolder === '') return undefined;
    return this.logs.find(({ engine }) => engine.dataFolder === dataFolder)?.engine;
  }

  /** The shown log is tried first. Returns the first engine when no log has the dialogue. */
  async withEpisode(id: string): Promise<Engine> {
    for (const engine of [this.shown.engine, ...this.all]) {
      if (await this.has(engine, id)) return engine;
    }
    return this.first;
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables, ...this.byFolder.values(), this.first).dispose();
    void this.close();
  }

  async close(): Promise<void> {
    const { logs, grading, pages, locals } = this.shared;
    await Promise.all([logs.keep([]), grading.close(), pages.close(), locals.close()]);
  }

  private async has(engine: Engine, episode: string): Promise<boolean> {
    try {
      return (await engine.logIfAny())?.summary(episode) !== undefined;
    } catch (error) {
      // A log that cannot be opened must not hide the dialogues of the others.
      engine.report(error);
      return false;
    }
  }

  private in(folder: vscode.WorkspaceFolder): Engine {
    if (folder.uri.toString() === this.first.configuration.folder?.uri.toString()) return this.first;
    const key = folder.uri.toString();
    const engine = this.byFolder.get(key) ?? this.make(new FolderSettings(folder));
    this.byFolder.set(key, engine);
    return engine;
  }

  private make(configuration: FolderSettings): Engine {
    const engine = new Engine(this.context, configuration, this.shared);
    engine.onDidChangeLog((episodes) => this.changed.fire({ engine, episodes }));
    return engine;
  }

  /** Disposes of removed folders' engines. When the first folder goes, the editor restarts the extension. */
  private forget(removed: readonly vscode.WorkspaceFolder[]): void {
    for (const { uri } of removed) {
      this.byFolder.get(uri.toString())?.dispose();
      this.byFolder.delete(uri.toString());
    }
    void this.keepWhatIsUsed();
  }

  private async keepWhatIsUsed(): Promise<void> {
    const { all } = this;
    const dataFolders = all.map((engine) => engine.configuration.dataFolder);
    await this.shared.logs.keep(dataFolders.filter((folder) => folder !== undefined));
    await this.shared.locals.keep(all.flatMap((engine) => engine.playing));
  }
}

async function openLocal({ spec, folder }: LocalPlace) {
  const { LocalModel } = await import('../core/model/local/model');
  return new LocalModel({ name: spec, folder });
}

const KEY = 'tandem.shownLog';

/** A log of the window: of one folder of the workspace, or of several that write into the same data folder. */
export interface FolderLog {
  readonly engine: Engine;
  readonly name: string;
}

/** The log that the views show and that commands on the log act on. The person chooses it where there are several. */
export class ShownLog extends Owner {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly dialoguesChanged = new vscode.EventEmitter<readonly string[]>();
  private last: string;

  /** Fires when another log is shown, or the log has another name. */
  readonly onDidChange = this.changed.event;
  /** Fires with the ids of dialogues that changed; no ids: any may have changed, or another log is shown. */
  readonly onDidChangeDialogues = this.dialoguesChanged.event;

  constructor(
    private readonly engines: Engines,
    private readonly memory: vscode.Memento,
  ) {
    super();
    this.last = this.mark;
    this.owns(
      this.changed,
      this.dialoguesChanged,
      // The context may be outdated in a window that had another first folder.
      afterActivation(() => this.setContext()),
      engines.onDidChangeLog(({ engine, episodes }) => {
        if (engine === this.engine) this.dialoguesChanged.fire(episodes);
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('tandem.dataFolder')) this.follow();
      }),
    );
  }

  get engine(): Engine {
    return this.shown.engine;
  }

  get name(): string | undefined {
    return this.engines.logs.length > 1 ? this.shown.name : undefined;
  }

  async show({ engine }: FolderLog): Promise<void> {
    await this.memory.update(KEY, addressOf(engine));
    this.follow();
  }

  private get shown(): FolderLog {
    const { logs } = this.engines;
    const chosen = this.memory.get<string>(KEY);
    return logs.find(({ engine }) => addressOf(engine) === chosen) ?? logs[0]!;
  }

  private get mark(): string {
    return JSON.stringify([this.engine.dataFolder, this.name]);
  }

  private follow(): void {
    this.setContext();
    const { mark } = this;
    if (mark === this.last) return;
    this.last = mark;
    this.changed.fire();
    this.dialoguesChanged.fire([]);
  }

  private setContext(): void {
    const hasSeveral = this.engines.logs.length > 1;
    void vscode.commands.executeCommand('setContext', contextKeys.hasSeveralLogs, hasSeveral);
  }
}

const addressOf = ({ configuration }: Engine): string | undefined => configuration.folder?.uri.toString();
