import { stat } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { Fault } from '../../core/fault';
import type { BadLine } from '../../core/task/pack';
import type { Task } from '../../core/task/task';
import type { Configuration } from '../configuration';
import { contextKeys } from '../contributions';
import { numbered, taskTitle } from './title';

/** A task as the tree shows it; the whole task is read from its pack when it is opened. */
export interface PackTask {
  readonly pack: string;
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly tests: number;
}

export interface Pack {
  /** Absolute path. */
  readonly file: string;
  /** File name without its ending. */
  readonly name: string;
  readonly tasks: readonly PackTask[];
  readonly bad: readonly BadLine[];
}

const EXCLUDED = '**/{node_modules,.tandem,.git}/**';
const MOST_FILES = 500;
/** So many lines of a file may be no JSON before it is taken for something else than a pack. */
const LINES_LOOKED_AT = 20;
const DESCRIPTION_LENGTH = 600;
const RELOAD_AFTER_MS = 200;

/** The packs of the workspace: files that the setting names and whose first good line is a task. */
export class Packs implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly read = new Map<
    string,
    { readonly version: string; readonly pack: Promise<Pack | undefined> }
  >();
  private readonly watcher = vscode.workspace.createFileSystemWatcher('**/*.jsonl');
  private timer: NodeJS.Timeout | undefined;
  private found: Promise<readonly Pack[]> | undefined;

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly configuration: Configuration,
    private readonly report: (error: unknown) => void,
  ) {
    for (const event of [this.watcher.onDidCreate, this.watcher.onDidChange, this.watcher.onDidDelete]) {
      event((file) => {
        if (!/[\\/]\.tandem[\\/]/.test(file.fsPath)) this.refreshSoon();
      });
    }
  }

  /** In the order of their names. */
  all(): Promise<readonly Pack[]> {
    this.found ??= this.find();
    return this.found;
  }

  /** Looks for packs anew. Files that did not change are not read again. */
  refresh(): void {
    this.found = undefined;
    this.changed.fire();
  }

  /** The whole task; undefined when the pack no longer has it. */
  async task(file: string, id: string): Promise<Task | undefined> {
    const { readTasks } = await import('../../core/task/pack');
    for await (const read of readTasks(file)) {
      if ('task' in read && read.task.id === id) return read.task;
    }
    return undefined;
  }

  /** What the list calls a task; undefined when no pack here holds it. */
  async title(file: string | undefined, id: string): Promise<string | undefined> {
    const pack = (await this.all()).find((one) => one.file === file);
    return pack?.tasks.find((task) => task.id === id)?.title;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.watcher.dispose();
    this.changed.dispose();
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), RELOAD_AFTER_MS);
  }

  private async find(): Promise<readonly Pack[]> {
    const globs = this.configuration.packs;
    const found = await Promise.all(
      globs.map((glob) => vscode.workspace.findFiles(glob, EXCLUDED, MOST_FILES)),
    );
    const files = [...new Set(found.flat().map((uri) => uri.fsPath))].sort();
    const packs = await Promise.all(files.map((file) => this.pack(file)));
    void vscode.commands.executeCommand('setContext', contextKeys.packsAreRead, true);
    return packs.filter((pack) => pack !== undefined);
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
      return { file, name: nameOf(file), tasks: [], bad: [{ file, line: 1, reason: reasonOf(error) }] };
    }
  }
}

async function readPack(file: string): Promise<Pack | undefined> {
  if (!(await isPack(file))) return undefined;
  const { readTasks } = await import('../../core/task/pack');
  const tasks: PackTask[] = [];
  const bad: BadLine[] = [];
  const titles = new Map<string, number>();
  for await (const read of readTasks(file)) {
    if ('bad' in read) bad.push(read.bad);
    else tasks.push(shown(file, read.task, numbered(taskTitle(read.task), titles)));
  }
  return { file, name: nameOf(file), tasks, bad };
}

/** A file is a pack when its first line that is JSON is a task. */
async function isPack(file: string): Promise<boolean> {
  const { readJsonLines } = await import('../../core/task/jsonl');
  const { parseTask } = await import('../../core/task/row');
  for await (const read of readJsonLines(file)) {
    if ('reason' in read) {
      if (read.line >= LINES_LOOKED_AT) return false;
      continue;
    }
    try {
      parseTask(read.value);
      return true;
    } catch (error) {
      if (error instanceof Fault) return false;
      throw error;
    }
  }
  return false;
}

function shown(pack: string, task: Task, title: string): PackTask {
  const { id, description, testCases } = task;
  const cut =
    description.length > DESCRIPTION_LENGTH ? `${description.slice(0, DESCRIPTION_LENGTH)}…` : description;
  return { pack, id, title, description: cut, tests: testCases.length };
}

const nameOf = (file: string): string => path.basename(file, path.extname(file));
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
