import { fstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type * as promises from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

type FileSystem = typeof promises;

/** A file or folder on the disk. The file system may reuse its inode number after it is removed. */
interface Node {
  readonly isFolder: boolean;
  /** Content of the file when it was last synced. */
  synced: Buffer;
  /** Entries of the folder when it was last synced. */
  entries: ReadonlyMap<string, Node>;
}

/** Content of a disk after a power cut: files by path relative to its root; empty folders are omitted. */
export type Image = ReadonlyMap<string, Buffer>;

/**
 * A layer over the real file system that tracks which data of a folder is on the disk and which only in memory: the
 * bytes of a file are safe once the file was synced, and a name is safe once its folder was. All operations also happen
 * in the real folder; `image` returns the content after a power cut.
 */
export class Disk {
  private static current: Disk | undefined;
  private readonly nodes = new Map<number, Node>();
  /** Called after each step that changes something. */
  onStep: () => void = () => undefined;

  private constructor(private readonly root: string) {
    this.markSynced(root);
  }

  /** Watches a folder, whose present content counts as synced, instead of the one before. */
  static under(root: string): Disk {
    return (Disk.current = new Disk(root));
  }

  static leave(): void {
    Disk.current = undefined;
  }

  /** Returns the file system with this layer over it. */
  static over(real: FileSystem): FileSystem {
    const stepping =
      <A extends unknown[], R>(work: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const result = await work(...given);
        Disk.current?.onStep();
        return result;
      };
    return {
      ...real,
      open: (async (path: string, flags?: string) => {
        const handle = await real.open(path, flags);
        const disk = Disk.current;
        if (!disk) return handle;
        if (flags === 'wx') disk.isNew(path);
        disk.onStep();
        return disk.watched(handle);
      }) as FileSystem['open'],
      writeFile: stepping(async (...given: Parameters<FileSystem['writeFile']>) => {
        await real.writeFile(...given);
        Disk.current?.isNew(given[0] as string);
      }),
      mkdir: (async (path: string, options: { recursive: true }) => {
        const first = await real.mkdir(path, options);
        for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made))
          Disk.current?.isNew(made);
        Disk.current?.onStep();
        return first;
      }) as FileSystem['mkdir'],
      rename: stepping(real.rename),
      rm: stepping(real.rm),
    };
  }

  /**
   * Returns the content after a power cut at this moment. Data that was not synced is lost when `chance` is never below
   * 0.5; otherwise any part of its names and bytes may remain, and bytes may be zeros.
   *
   * @param chance random numbers from 0 to 1
   */
  image(chance: () => number = () => 1): Image {
    const files = new Map<string, Buffer>();
    const visit = (node: Node, path: string): void => {
      if (!node.isFolder) {
        files.set(path.slice(this.root.length + 1), left(node, path, chance));
        return;
      }
      const real = this.entriesOf(path);
      for (const name of new Set([...node.entries.keys(), ...real.keys()])) {
        const [safe, now] = [node.entries.get(name), real.get(name)];
        const kept = safe === now || chance() >= 0.5 ? safe : now;
        if (kept) visit(kept, join(path, name));
      }
    };
    visit(this.nodeAt(this.root), this.root);
    return files;
  }

  private watched(handle: FileHandle): FileHandle {
    const syncing = (work: () => Promise<void>) => async (): Promise<void> => {
      const node = this.nodes.get(fstatSync(handle.fd).ino);
      const path = node && this.pathOf(node, this.root);
      const bytes = path !== undefined && !node!.isFolder ? readFileSync(path) : undefined;
      const entries = path !== undefined && node!.isFolder ? this.entriesOf(path) : undefined;
      await work();
      if (node && bytes) node.synced = bytes;
      if (node && entries) node.entries = entries;
      this.onStep();
    };
    const stepping =
      <A extends unknown[], R>(work: (...given: A) => Promise<R>) =>
      async (...given: A): Promise<R> => {
        const result = await work.apply(handle, given);
        this.onStep();
        return result;
      };
    return new Proxy(handle, {
      get: (target, property) => {
        if (property === 'sync') return syncing(() => target.sync());
        if (property === 'datasync') return syncing(() => target.datasync());
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        const method = value as (...given: unknown[]) => Promise<unknown>;
        return ['write', 'writeFile', 'truncate'].includes(String(property))
          ? stepping(method)
          : method.bind(target);
      },
    });
  }

  private isNew(path: string): void {
    const { ino } = statSync(path);
    this.nodes.delete(ino);
    this.nodeAt(path);
  }

  private nodeAt(path: string): Node {
    const stats = statSync(path);
    let node = this.nodes.get(stats.ino);
    if (!node) {
      node = { isFolder: stats.isDirectory(), synced: Buffer.alloc(0), entries: new Map() };
      this.nodes.set(stats.ino, node);
    }
    return node;
  }

  /** Finds the present path of a file or folder below a path; undefined when it was removed. */
  private pathOf(node: Node, path: string): string | undefined {
    if (this.nodeAt(path) === node) return path;
    if (!this.nodeAt(path).isFolder) return undefined;
    for (const name of readdirSync(path)) {
      const found = this.pathOf(node, join(path, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private entriesOf(path: string): Map<string, Node> {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return new Map();
    return new Map(readdirSync(path).map((name) => [name, this.nodeAt(join(path, name))]));
  }

  private markSynced(path: string): void {
    const node = this.nodeAt(path);
    if (node.isFolder) {
      node.entries = this.entriesOf(path);
      for (const name of node.entries.keys()) this.markSynced(join(path, name));
    } else node.synced = readFileSync(path);
  }
}

export function writeImage(image: Image, folder: string): void {
  for (const [path, bytes] of image) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/** Returns the remains of a file: the synced bytes, and by chance a part of later bytes, or zeros. */
function left({ synced }: Node, path: string, chance: () => number): Buffer {
  const now = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : synced;
  const isGrown = now.length > synced.length && now.subarray(0, synced.length).equals(synced);
  if (!isGrown || chance() >= 0.5) return synced;
  const kept = synced.length + Math.floor(chance() * (now.length - synced.length + 1));
  const zeros = Buffer.alloc(chance() < 0.5 ? now.length - kept : 0);
  return Buffer.concat([now.subarray(0, kept), zeros]);
}
