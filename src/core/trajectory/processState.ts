import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { isErrorCode } from './files';

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
