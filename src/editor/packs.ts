import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault, messageOf } from '../core/fault';
import { isProgram, type Task, testsOf } from '../core/task/task';
import type { FolderSettings } from './configuration';
import { contextKeys } from './contributions';
import type { Engines } from './engines';
import { pickOne, valueOf } from './inputSteps';
import type { BadLine } from '../core/task/pack';
import { numbered, taskTitle } from '../core/task/title';

const { t } = vscode.l10n;

/** A task as the tree shows it; the whole task is read from its pack when it is opened. */
export interface ListedTask {
  /** Absolute path of the pack. */
  readonly pack: string;
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tests: number;
  /** Absent for a function. */
  readonly kind?: 'page';
}

export interface Pack {
  /** Absolute path of the pack. */
  readonly file: string;
  readonly name: string;
  readonly tasks: readonly ListedTask[];
  readonly bad: readonly BadLine[];
}

const DESCRIPTION_LENGTH = 2000;

/** Returns what the tree shows of a pack; undefined when the file holds something else. */
async function readPack(file: string): Promise<Pack | undefined> {
  const { isPack, readTasks } = await import('../core/task/pack');
  if (!(await isPack(file))) return undefined;
  const tasks: ListedTask[] = [];
  const bad: BadLine[] = [];
  const titles = new Map<string, number>();
  for await (const read of readTasks(file)) {
    if ('bad' in read) bad.push(read.bad);
    else tasks.push(shown(file, read.task, numbered(taskTitle(read.task), titles)));
  }
  return { file, name: nameOf(file), tasks, bad };
}

function shown(pack: string, task: Task, title: string): ListedTask {
  const { id, description } = task;
  const cut =
    description.length > DESCRIPTION_LENGTH ? `${description.slice(0, DESCRIPTION_LENGTH)}…` : description;
  const kind = isProgram(task) ? undefined : 'page';
  return { pack, id, title, description: cut, tests: testsOf(task).length, ...(kind && { kind }) };
}

const nameOf = (file: string): string => path.basename(file, path.extname(file));

const EXCLUDED = '**/{node_modules,.tandem,.git}/**';
const MAX_FILES = 500;
const RELOAD_AFTER_MS = 200;

/** The packs of all folders of the workspace: files that match the setting and begin with a task. */
export class Packs implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly read = new Map<
    string,
    { readonly version: string; readonly pack: Promise<Pack | undefined> }
  >();
  private readonly disposables: { dispose(): unknown }[];
  private timer: NodeJS.Timeout | undefined;
  private found: Promise<readonly Pack[]> | undefined;

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engines: Engines,
    private readonly report: (error: unknown) => void,
  ) {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.jsonl');
    for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete]) {
      event((file) => {
        if (!/[\\/]\.tandem[\\/]/.test(file.fsPath)) this.refreshSoon();
      });
    }
    const folders = vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh());
    this.disposables = [this.changed, watcher, folders];
  }

  all(): Promise<readonly Pack[]> {
    this.found ??= this.find();
    return this.found;
  }

  refresh(): void {
    this.found = undefined;
    this.changed.fire();
  }

  leaveOut(file: string): Promise<() => Promise<void>> {
    const { configuration } = this.engines.of(file);
    const written = path.relative(configuration.folder?.uri.fsPath ?? '', file).replaceAll(path.sep, '/');
    return configuration.setHere('packs', [...configuration.packs, `!${written}`]);
  }

  /** Removes a file's exclusion. @throws {Fault} `editor/pack-not-listed` when no pattern of the setting matches it */
  async list(file: string): Promise<void> {
    const { configuration } = this.engines.of(file);
    const others = configuration.packs.filter((pattern) => leftOutBy(pattern, configuration) !== file);
    if (others.length < configuration.packs.length) await configuration.setHere('packs', others);
    this.refresh();
    if ((await this.all()).some((pack) => pack.file === file)) return;
    throw new Fault(
      'editor/pack-not-listed',
      t(
        '{0} was added, but the setting tandem.packs leaves it out. Add a pattern that matches it.',
        vscode.workspace.asRelativePath(file),
      ),
    );
  }

  /** Undefined also for a file that is no pack of this window: a page restored after a reload may name any file. */
  async task(file: string, id: string): Promise<Task | undefined> {
    if ((await this.all()).every((pack) => pack.file !== file)) return undefined;
    const { readTasks } = await import('../core/task/pack');
    for await (const read of readTasks(file)) {
      if ('task' in read && read.task.id === id) return read.task;
    }
    return undefined;
  }

  async title(file: string | undefined, id: string): Promise<string | undefined> {
    const pack = (await this.all()).find((one) => one.file === file);
    return pack?.tasks.find((task) => task.id === id)?.title;
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), RELOAD_AFTER_MS);
  }

  private async find(): Promise<readonly Pack[]> {
    const inFolders = await Promise.all(this.engines.all.map(({ configuration }) => filesOf(configuration)));
    const files = [...new Set(inFolders.flat())];
    const packs = (await Promise.all(files.map((file) => this.pack(file)))).filter(
      (pack) => pack !== undefined,
    );
    void vscode.commands.executeCommand('setContext', contextKeys.packsAreRead, true);
    void vscode.commands.executeCommand('setContext', contextKeys.hasPacks, packs.length > 0);
    return packs;
  }

  private async pack(file: string): Promise<Pack | undefined> {
    try {
      const { mtimeMs, size } = await stat(file);
      const version = `${mtimeMs} ${size}`;
      const known = this.read.get(file);
      if (known?.version === version) return await known.pack;
      const pack = readPack(file);
      this.read.set(file, { version, pack });
      return await pack;
    } catch (error) {
      this.read.delete(file);
      this.report(error);
      const bad = [{ file, line: 1, reason: messageOf(error) }];
      return { file, name: nameOf(file), tasks: [], bad };
    }
  }
}

export async function choosePack(packs: readonly Pack[], title: string): Promise<Pack | undefined> {
  if (packs.length < 2) return packs[0];
  const picked = await pickOne({
    ...{ title, placeholder: t('Tasks of which pack?') },
    items: packs.map((pack) => ({
      label: pack.name,
      description: vscode.workspace.asRelativePath(pack.file),
      pack,
    })),
  });
  return valueOf(picked)?.pack;
}

function leftOutBy(pattern: string, { folder }: FolderSettings): string | undefined {
  return pattern.startsWith('!') ? path.join(folder?.uri.fsPath ?? '', pattern.slice(1)) : undefined;
}

async function filesOf(configuration: FolderSettings): Promise<string[]> {
  const { folder, packs } = configuration;
  if (folder === undefined) return [];
  const found = await Promise.all(
    packs
      .filter((pattern) => !pattern.startsWith('!'))
      .map((glob) =>
        vscode.workspace.findFiles(new vscode.RelativePattern(folder, glob), EXCLUDED, MAX_FILES),
      ),
  );
  const leftOut = packs.map((pattern) => leftOutBy(pattern, configuration));
  return found
    .flat()
    .map((uri) => uri.fsPath)
    .filter((file) => !leftOut.includes(file))
    .sort();
}
