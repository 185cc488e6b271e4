import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { isErrorCode } from '../../src/core/trajectory/files';

export interface RunningProcess {
  readonly pid: number;
  /** Id of its process group. */
  readonly group: number;
  readonly isSuspended: boolean;
  /** The whole command line. */
  readonly args: string;
}

/** Lists all processes of this machine. */
export async function processes(): Promise<RunningProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,pgid=,stat=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, group, state, args] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (args === undefined) return [];
    return [{ pid: Number(pid), group: Number(group), isSuspended: state!.startsWith('T'), args }];
  });
}

/** Sends a signal to a process, or to a group of them by its negative id. @returns whether it was still there */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (isErrorCode(error, 'ESRCH')) return false;
    throw error;
  }
}

/**
 * Suspends the first matching process as soon as there is one, so that a test can inspect its work at leisure, however
 * fast the machine is.
 * @returns a function that resumes the process, if it still exists
 */
export async function holdProcess(isMeant: (process: RunningProcess) => boolean): Promise<() => void> {
  for (;;) {
    const pid = (await processes()).find(isMeant)?.pid;
    if (pid !== undefined && signal(pid, 'SIGSTOP')) return () => void signal(pid, 'SIGCONT');
    await pause(20);
  }
}
