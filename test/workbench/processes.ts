import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { isRunning } from '../../src/core/trajectory/running';

export interface RunningProcess {
  readonly pid: number;
  /** The number of its process group. */
  readonly group: number;
  /** The command line. */
  readonly args: string;
}

/** All processes of this machine. */
export async function processes(): Promise<RunningProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-ww', '-o', 'pid=,pgid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, pid, group, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return args === undefined ? [] : [{ pid: Number(pid), group: Number(group), args }];
  });
}

/**
 * Stops the first process that is meant, as soon as there is one, in the middle of what it does: so that this can be looked
 * at for as long as that takes, however fast the machine is.
 * @returns lets the process go on, if it is still there
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
