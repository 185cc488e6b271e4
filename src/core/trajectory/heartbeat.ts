import { randomBytes } from 'node:crypto';
import { rm, stat, writeFile, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ifThere, isErrorCode, UNFINISHED } from './files';

/*
 * No process can ask another machine whether a process lives there, and a machine may change its name: a rebuilt
 * container, a laptop in another network. So whoever holds something in a shared folder writes to a file there every 30
 * seconds: a trainer to `alive` (`claim.py`), every other process to the file that names it. A file of another machine
 * that was not written for twenty times as long belongs to a process that is gone.
 */
export const SILENT_MS = 10 * 60_000;
const BEAT_MS = 30_000;

/** Ends a sentence with what to do about a process that may be gone. */
export function whenGone({ host }: NamedProcess, file: string): string {
  if (host === hostname()) return `if that is not a Tandem, delete ${file}`;
  return `if ${host} was switched off, try again ten minutes after that, or delete ${file}`;
}

/** The file that names this process to others, written again every 30 seconds until `end`. */
export class SignOfLife {
  private readonly timer: NodeJS.Timeout;
  /** In milliseconds since 1970; this clock continues while the machine sleeps. */
  private last = Date.now();
  private isGone = false;

  /** @param text content of the file, which stays the same */
  constructor(
    private readonly file: string,
    private readonly text: string,
  ) {
    // If the file system is away, the next write fails and reports it; here the file only ages.
    this.timer = setInterval(() => void this.give().catch(() => undefined), BEAT_MS);
    this.timer.unref();
  }

  /**
   * False if another machine has taken this process for dead and removed the file, because the machine slept or the
   * network was away. Looks only after a sign was missed.
   */
  async isStanding(): Promise<boolean> {
    if (!this.isGone && Math.abs(Date.now() - this.last) > 2 * BEAT_MS) await this.give();
    return !this.isGone;
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    if (!this.isGone) await rm(this.file, { force: true });
  }

  /** Writes in place: a reader finds the whole text at any moment, and the file gets the time of its file system. */
  private async give(): Promise<void> {
    try {
      await writeFile(this.file, this.text, { flag: 'r+' });
      this.last = Date.now();
    } catch (error) {
      if (!isErrorCode(error, 'ENOENT')) throw error;
      this.isGone = true;
    }
  }
}

/**
 * A process of this machine is looked up; one of another machine must have written the file lately.
 * @param now present time of the file system, in milliseconds since 1970
 */
export async function standsFor(file: string, named: NamedProcess, now = Date.now()): Promise<boolean> {
  if (named.host === hostname()) return mayLive(named);
  const seen = await ifThere(() => stat(file));
  return seen !== undefined && now - seen.mtimeMs <= SILENT_MS;
}

/**
 * Milliseconds since 1970 by the file system that holds a folder: files on a share bear the time of its server, which
 * may differ from this machine's clock.
 */
export async function timeAt(folder: string): Promise<number> {
  const file = join(folder, `now.${randomBytes(4).toString('hex')}${UNFINISHED}`);
  try {
    await writeFile(file, '');
    return (await stat(file)).mtimeMs;
  } finally {
    await rm(file, { force: true });
  }
}

/** True if a process with this id exists, even one of another user; a zombie counts. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EPERM')) return true; // it runs, under another user
    if (isErrorCode(error, 'ESRCH')) return false;
    throw error;
  }
}

/**
 * State of a process on this machine: gone (a zombie counts as gone), or running, where `began` is its start in kernel
 * ticks since boot, which distinguishes two processes with the same id.
 */
type ProcessState = 'gone' | 'cannot tell' | { readonly began: string };

export async function look(pid: number): Promise<ProcessState> {
  if (!isRunning(pid)) return 'gone';
  if (process.platform !== 'linux') return 'cannot tell';
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain anything; the state follows it, and the start time as the 20th field.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : { began: fields[19]! };
  } catch (error) {
    // It has ended since (ESRCH: between open and read), or the system hides the processes of other users.
    if (isErrorCode(error, 'ENOENT', 'ESRCH')) return isRunning(pid) ? 'cannot tell' : 'gone';
    throw error;
  }
}

/** Null if the system does not tell, or there is no such process. */
export async function beginOf(pid: number): Promise<string | null> {
  const seen = await look(pid);
  return typeof seen === 'object' ? seen.began : null;
}

/** Perhaps one of another machine. */
export interface NamedProcess {
  readonly pid: number;
  readonly host: string;
  /** As `beginOf` returns it; anything but a string: it was not recorded. */
  readonly began?: unknown;
}

/**
 * False only for a process of this machine that is gone: one on another machine cannot be asked.
 * @param command part of its command line, by which it is known if its start was not recorded; without it any process
 *   with this id counts
 */
export async function mayLive({ pid, host, began }: NamedProcess, command = ''): Promise<boolean> {
  if (host !== hostname()) return true;
  const seen = await look(pid);
  if (typeof seen !== 'object') return seen === 'cannot tell';
  if (typeof began === 'string') return began === seen.began;
  return command === '' || (await commandLineOf(pid)).includes(command);
}

/** Empty when the process has ended since. */
async function commandLineOf(pid: number): Promise<string> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (isErrorCode(error, 'ENOENT', 'ESRCH')) return '';
    throw error;
  }
}
