/** Results of WASI functions. Source: wasi_snapshot_preview1, type errno. */
export const errno = {
  ok: 0,
  badFile: 8,
  exists: 20,
  invalid: 28,
  isFolder: 31,
  noEntry: 44,
  noSpace: 51,
  notImplemented: 52,
  noFolder: 54,
  notEmpty: 55,
  seekPipe: 70,
} as const;

/** Limits for the files of one call; what would pass them finds no space. */
const maxBytes = 16 * 1024 * 1024;
const maxEntries = 1_000;

const rootDescriptor = 3;
/** Source: wasi_snapshot_preview1, types filetype, oflags, fdflags, whence. */
const fileTypes = { folder: 3, file: 4 } as const;
const openFlags = { create: 1, folder: 2, exclusive: 4, truncate: 8 } as const;
const appendFlag = 1;
const whence = { start: 0, current: 1 } as const;
const entryHeaderBytes = 24;

interface File {
  readonly kind: 'file';
  readonly inode: bigint;
  data: Uint8Array;
  size: number;
}

interface Folder {
  readonly kind: 'folder';
  readonly inode: bigint;
  readonly entries: Map<string, Entry>;
}

type Entry = File | Folder;

interface OpenEntry {
  readonly entry: Entry;
  readonly append: boolean;
  at: number;
}

interface Place {
  readonly folder: Folder;
  readonly name: string;
  readonly entry: Entry | undefined;
}

interface Transfer {
  readonly result: number;
  readonly bytes: number;
}

const failed = (result: number): Transfer => ({ result, bytes: 0 });

/** What the files need of the guest and its clock. */
interface Guest {
  bytes(): Uint8Array;
  view(): DataView;
  vectors(start: number, count: number): Iterable<[start: number, length: number]>;
}

/**
 * Files in memory for the guest, below one root with an empty /tmp: those of one call, which no other sees. There are no
 * links, no rights and no times.
 */
export class MemoryFiles {
  private root: Folder = emptyFolder(1n);
  private readonly open = new Map<number, OpenEntry>();
  private nextDescriptor = rootDescriptor + 1;
  private nextInode = 2n;
  private usedBytes = 0;
  private entries = 0;

  constructor(
    private readonly guest: Guest,
    private readonly nanoseconds: bigint,
  ) {
    this.reset();
  }

  reset(): void {
    this.open.clear();
    this.nextDescriptor = rootDescriptor + 1;
    this.clear();
  }

  /** Begins a call. A file that the last one left open stays open, and is in no folder. */
  clear(): void {
    this.root = emptyFolder(1n);
    this.root.entries.set('tmp', emptyFolder(2n));
    this.open.set(rootDescriptor, { entry: this.root, append: false, at: 0 });
    this.nextInode = 3n;
    this.entries = 0;
    const left = new Set([...this.open.values()].map(({ entry }) => entry));
    this.usedBytes = 0;
    for (const entry of left) if (entry.kind === 'file') this.usedBytes += entry.data.length;
  }

  /** The functions of WASI for files; the standard streams are not here. */
  functions() {
    const found = this.withOpen.bind(this);
    return {
      fd_prestat_get: (fd: number, at: number) => {
        if (fd !== rootDescriptor) return errno.badFile;
        this.guest.view().setUint32(at, 0, true);
        this.guest.view().setUint32(at + 4, 1, true);
        return errno.ok;
      },
      fd_prestat_dir_name: (fd: number, at: number) => {
        if (fd !== rootDescriptor) return errno.badFile;
        this.guest.view().setUint8(at, '/'.charCodeAt(0));
        return errno.ok;
      },
      fd_close: (fd: number) => (this.open.delete(fd) ? errno.ok : errno.badFile),
      fd_fdstat_get: (fd: number, at: number) => found(fd, (opened) => this.writeStatus(opened, at)),
      fd_fdstat_set_flags: (fd: number, flags: number) =>
        found(fd, (opened) => {
          this.open.set(fd, { ...opened, append: (flags & appendFlag) !== 0 });
          return errno.ok;
        }),
      fd_filestat_get: (fd: number, at: number) => found(fd, ({ entry }) => this.writeFileStat(entry, at)),
      fd_filestat_set_size: (fd: number, size: bigint) =>
        found(fd, ({ entry }) => (entry.kind === 'file' ? this.resize(entry, Number(size)) : errno.isFolder)),
      fd_filestat_set_times: (fd: number) => found(fd, () => errno.ok),
      fd_allocate: (fd: number) => found(fd, () => errno.ok),
      fd_advise: (fd: number) => found(fd, () => errno.ok),
      fd_sync: (fd: number) => found(fd, () => errno.ok),
      fd_datasync: (fd: number) => found(fd, () => errno.ok),
      fd_seek: (fd: number, offset: bigint, from: number, at: number) =>
        found(fd, (opened) => this.seek(opened, Number(offset), from, at)),
      fd_tell: (fd: number, at: number) => found(fd, (opened) => this.seek(opened, 0, whence.current, at)),
      fd_read: (fd: number, vectors: number, count: number, read: number) =>
        found(fd, (opened) => this.advance(opened, this.read(opened.entry, opened.at, vectors, count, read))),
      fd_pread: (fd: number, vectors: number, count: number, offset: bigint, read: number) =>
        found(fd, ({ entry }) => this.read(entry, Number(offset), vectors, count, read).result),
      fd_write: (fd: number, vectors: number, count: number, written: number) =>
        found(fd, (opened) => {
          const { entry, append } = opened;
          if (append && entry.kind === 'file') opened.at = entry.size;
          return this.advance(opened, this.write(entry, opened.at, vectors, count, written));
        }),
      fd_pwrite: (fd: number, vectors: number, count: number, offset: bigint, written: number) =>
        found(fd, ({ entry }) => this.write(entry, Number(offset), vectors, count, written).result),
      fd_readdir: (fd: number, buffer: number, length: number, cookie: bigint, used: number) =>
        found(fd, ({ entry }) => this.list(entry, buffer, length, Number(cookie), used)),
      path_open: (
        fd: number,
        _follow: number,
        path: number,
        length: number,
        flags: number,
        _rights: bigint,
        _inherited: bigint,
        status: number,
        at: number,
      ) => this.at(fd, path, length, (place) => this.openAt(place, flags, status, at)),
      path_filestat_get: (fd: number, _follow: number, path: number, length: number, at: number) =>
        this.at(fd, path, length, ({ entry }) =>
          entry === undefined ? errno.noEntry : this.writeFileStat(entry, at),
        ),
      path_filestat_set_times: (fd: number, _follow: number, path: number, length: number) =>
        this.at(fd, path, length, ({ entry }) => (entry === undefined ? errno.noEntry : errno.ok)),
      path_create_directory: (fd: number, path: number, length: number) =>
        this.at(fd, path, length, ({ folder, name, entry }) => {
          if (entry !== undefined) return errno.exists;
          return this.add(folder, name, emptyFolder(this.nextInode++));
        }),
      path_unlink_file: (fd: number, path: number, length: number) =>
        this.at(fd, path, length, (place) => {
          if (place.entry?.kind === 'folder') return errno.isFolder;
          return this.remove(place);
        }),
      path_remove_directory: (fd: number, path: number, length: number) =>
        this.at(fd, path, length, (place) => {
          if (place.entry?.kind === 'file') return errno.noFolder;
          return (place.entry?.entries.size ?? 0) > 0 ? errno.notEmpty : this.remove(place);
        }),
      path_rename: (fd: number, path: number, length: number, toFd: number, to: number, toLength: number) =>
        this.at(fd, path, length, (from) =>
          this.at(toFd, to, toLength, (target) => this.rename(from, target)),
        ),
      path_readlink: (fd: number, path: number, length: number) =>
        this.at(fd, path, length, ({ entry }) => (entry === undefined ? errno.noEntry : errno.invalid)),
    };
  }

  private withOpen(fd: number, action: (opened: OpenEntry) => number): number {
    const opened = this.open.get(fd);
    return opened === undefined ? errno.badFile : action(opened);
  }

  private at(fd: number, start: number, length: number, action: (place: Place) => number): number {
    const opened = this.open.get(fd);
    if (opened === undefined) return errno.badFile;
    if (opened.entry.kind === 'file') return errno.noFolder;
    const path = Buffer.from(this.guest.bytes().slice(start, start + length)).toString('latin1');
    const above: Folder[] = [];
    let place: Place = { folder: opened.entry, name: '.', entry: opened.entry };
    for (const name of path.split('/')) {
      if (name === '' || name === '.') continue;
      const { entry } = place;
      if (entry === undefined) return errno.noEntry;
      if (entry.kind === 'file') return errno.noFolder;
      if (name === '..') {
        const parent = above.pop() ?? this.root;
        place = { folder: parent, name: '.', entry: parent };
      } else {
        above.push(entry);
        place = { folder: entry, name, entry: entry.entries.get(name) };
      }
    }
    return action(place);
  }

  private openAt({ folder, name, entry: known }: Place, flags: number, status: number, at: number): number {
    const wants = (flag: number): boolean => (flags & flag) !== 0;
    if (known !== undefined && wants(openFlags.create) && wants(openFlags.exclusive)) return errno.exists;
    if (known?.kind === 'file' && wants(openFlags.folder)) return errno.noFolder;
    let entry = known;
    if (entry === undefined) {
      if (!wants(openFlags.create)) return errno.noEntry;
      entry = { kind: 'file', inode: this.nextInode++, data: new Uint8Array(0), size: 0 };
      const added = this.add(folder, name, entry);
      if (added !== errno.ok) return added;
    } else if (entry.kind === 'file' && wants(openFlags.truncate)) this.resize(entry, 0);
    if (this.open.size > maxEntries) return errno.noSpace;
    const fd = this.nextDescriptor++;
    this.open.set(fd, { entry, append: (status & appendFlag) !== 0, at: 0 });
    this.guest.view().setUint32(at, fd, true);
    return errno.ok;
  }

  private add(folder: Folder, name: string, entry: Entry): number {
    if (this.entries >= maxEntries) return errno.noSpace;
    this.entries++;
    folder.entries.set(name, entry);
    return errno.ok;
  }

  private remove({ folder, name, entry }: Place): number {
    if (entry === undefined) return errno.noEntry;
    if (!folder.entries.delete(name)) return errno.invalid;
    this.entries--;
    return errno.ok;
  }

  private rename(from: Place, to: Place): number {
    if (from.entry === undefined) return errno.noEntry;
    if (from.name === '.' || to.name === '.') return errno.invalid;
    if (from.entry === to.entry) return errno.ok;
    if (from.entry.kind === 'folder' && holds(from.entry, to.folder)) return errno.invalid;
    if (to.entry !== undefined && to.entry.kind !== from.entry.kind) {
      return to.entry.kind === 'folder' ? errno.isFolder : errno.noFolder;
    }
    if (to.entry?.kind === 'folder' && to.entry.entries.size > 0) return errno.notEmpty;
    if (to.entry !== undefined) this.entries--;
    from.folder.entries.delete(from.name);
    to.folder.entries.set(to.name, from.entry);
    return errno.ok;
  }

  /** Space that a removed file had is not given back: the call ends soon. */
  private resize(file: File, size: number): number {
    if (!(size >= 0)) return errno.invalid;
    if (size > file.data.length) {
      const capacity = Math.max(size, Math.min(2 * file.data.length, file.data.length + maxBytes / 8), 256);
      if (this.usedBytes + capacity - file.data.length > maxBytes) return errno.noSpace;
      this.usedBytes += capacity - file.data.length;
      const data = new Uint8Array(capacity);
      data.set(file.data.subarray(0, file.size));
      file.data = data;
    } else if (size < file.size) file.data.fill(0, size, file.size);
    file.size = size;
    return errno.ok;
  }

  private advance(opened: OpenEntry, { result, bytes }: Transfer): number {
    opened.at += bytes;
    return result;
  }

  private read(entry: Entry, at: number, vectors: number, count: number, read: number): Transfer {
    if (entry.kind === 'folder') return failed(errno.isFolder);
    let total = 0;
    for (const [start, length] of this.guest.vectors(vectors, count)) {
      const part = entry.data.subarray(
        Math.min(at + total, entry.size),
        Math.min(at + total + length, entry.size),
      );
      this.guest.bytes().set(part, start);
      total += part.length;
    }
    this.guest.view().setUint32(read, total, true);
    return { result: errno.ok, bytes: total };
  }

  private write(entry: Entry, at: number, vectors: number, count: number, written: number): Transfer {
    if (entry.kind === 'folder') return failed(errno.isFolder);
    let total = 0;
    for (const [start, length] of this.guest.vectors(vectors, count)) {
      const end = at + total + length;
      if (end > entry.size) {
        const grown = this.resize(entry, end);
        if (grown !== errno.ok) return failed(grown);
      }
      entry.data.set(this.guest.bytes().subarray(start, start + length), at + total);
      total += length;
    }
    this.guest.view().setUint32(written, total, true);
    return { result: errno.ok, bytes: total };
  }

  private seek(opened: OpenEntry, offset: number, from: number, at: number): number {
    if (opened.entry.kind === 'folder') return errno.isFolder;
    const base = from === whence.start ? 0 : from === whence.current ? opened.at : opened.entry.size;
    if (base + offset < 0) return errno.invalid;
    opened.at = base + offset;
    this.guest.view().setBigUint64(at, BigInt(opened.at), true);
    return errno.ok;
  }

  private list(entry: Entry, buffer: number, length: number, cookie: number, used: number): number {
    if (entry.kind === 'file') return errno.noFolder;
    const parts: Buffer[] = [];
    for (const [index, [name, { kind, inode }]] of [...entry.entries].entries()) {
      if (index < cookie) continue;
      const header = Buffer.alloc(entryHeaderBytes);
      header.writeBigUInt64LE(BigInt(index + 1), 0);
      header.writeBigUInt64LE(inode, 8);
      header.writeUInt32LE(name.length, 16);
      header.writeUInt8(fileTypes[kind], 20);
      parts.push(header, Buffer.from(name, 'latin1'));
    }
    const all = Buffer.concat(parts).subarray(0, length);
    this.guest.bytes().set(all, buffer);
    this.guest.view().setUint32(used, all.length, true);
    return errno.ok;
  }

  private writeStatus({ entry, append }: OpenEntry, at: number): number {
    this.guest.bytes().fill(0, at, at + 24);
    const view = this.guest.view();
    view.setUint8(at, fileTypes[entry.kind]);
    view.setUint16(at + 2, append ? appendFlag : 0, true);
    view.setBigUint64(at + 8, 0xffff_ffffn, true);
    view.setBigUint64(at + 16, 0xffff_ffffn, true);
    return errno.ok;
  }

  private writeFileStat(entry: Entry, at: number): number {
    this.guest.bytes().fill(0, at, at + 64);
    const view = this.guest.view();
    view.setBigUint64(at, 1n, true);
    view.setBigUint64(at + 8, entry.inode, true);
    view.setUint8(at + 16, fileTypes[entry.kind]);
    view.setBigUint64(at + 24, 1n, true);
    view.setBigUint64(at + 32, BigInt(entry.kind === 'file' ? entry.size : 0), true);
    for (const time of [40, 48, 56]) view.setBigUint64(at + time, this.nanoseconds, true);
    return errno.ok;
  }
}

function emptyFolder(inode: bigint): Folder {
  return { kind: 'folder', inode, entries: new Map() };
}

function holds(folder: Folder, other: Folder): boolean {
  if (folder === other) return true;
  return [...folder.entries.values()].some((each) => each.kind === 'folder' && holds(each, other));
}
