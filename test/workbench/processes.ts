import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { isRunning } from '../../src/core/trajectory/running';

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

/**
 * Suspends the first matching process as soon as there is one, so that a test can inspect its work at leisure, however
 * fast the machine is.
 * @returns a function that resumes the process, if it still exists
 */
export async function holdProcess(isMeant: (process: RunningProcess) => boolean): Promise<() => void> {
  for (;;) {
    const pid = (await processes()).find(isMeant)?.pid;
    if (pid !== undefined) {
      process.kill(pid, 'SIGSTOP');
      return () => {
        if (isRunning(pid)) process.kill(pid, 'SIGCONT');
      };
    }
    await pause(20);
  }
}
