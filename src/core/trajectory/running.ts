import { readFile } from 'node:fs/promises';
import { isErrorCode } from './files';

/** Whether a process of this number is there, whoever owns it; one that ended and that its parent has not asked for counts. */
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
 * A process of this machine: gone, also when only its exit status is left for a parent that does not ask for it; or
 * there, and `began` in the kernel's ticks since the machine's start, which tells two processes of one number apart.
 */
export type Seen = 'gone' | 'cannot tell' | { readonly began: string };

export async function look(pid: number): Promise<Seen> {
  if (!isRunning(pid)) return 'gone';
  if (process.platform !== 'linux') return 'cannot tell';
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; after it come the state and, as the 20th field, the time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'gone' : { began: fields[19]! };
  } catch (error) {
    // It ended since (ESRCH: between the opening and the reading), or the system hides the processes of other users.
    if (isErrorCode(error, 'ENOENT', 'ESRCH')) return isRunning(pid) ? 'cannot tell' : 'gone';
    throw error;
  }
}

/** When a process of this machine began; null where the system does not tell, or when there is none. */
export async function beginOf(pid: number): Promise<string | null> {
  const seen = await look(pid);
  return typeof seen === 'object' ? seen.began : null;
}
